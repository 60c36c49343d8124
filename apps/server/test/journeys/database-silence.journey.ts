import { setTimeout as pause } from 'node:timers/promises';
import { createEncryption } from '@postrider/core';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type DatabaseProxy, openDatabaseProxy } from '../database-proxy.ts';
import { hello, type Journey, openJourney, statesOf } from '../journey.ts';
import { type ApiResponse, launch, type ServerProcess } from '../server-process.ts';

const PATIENCE = { timeout: 30_000, interval: 100 };

let journey: Journey;
let proxy: DatabaseProxy;
beforeEach(async () => {
  journey = await openJourney();
  proxy = await openDatabaseProxy(journey.env.DATABASE_URL ?? '');
});
afterEach(async () => {
  await journey.stop();
  await proxy.close();
});

const send = (server: ServerProcess) => server.call('POST', '/v1/email/send', { body: hello });
const timed = async (call: Promise<ApiResponse>) => {
  const began = performance.now();
  const { status } = await call;
  return { status, ms: performance.now() - began };
};

describe('a database that accepts bytes but never responds', () => {
  it('promise P19, chaos C8: fails a send and a read in time, and traffic resumes over new connections', async () => {
    const server = await journey.start({ DATABASE_URL: proxy.url, LIMITS: 'database_answer=3s,database_accept=2s' });
    expect((await send(server)).status).toBe(202);
    await expect.poll(() => statesOf(journey.sql), PATIENCE).toEqual({ delivered: 1 });

    proxy.silence();
    const [sent, read] = await Promise.all([timed(send(server)), timed(server.call('GET', '/v1/domains'))]);

    expect(sent).toMatchObject({ status: 500 });
    expect(sent.ms).toBeLessThan(4000);
    expect(read.ms).toBeLessThan(8000);
    expect(read.status).toBe(500);
    expect((await send(server)).status).toBe(202);
    await expect.poll(async () => (await statesOf(journey.sql)).delivered ?? 0, PATIENCE).toBeGreaterThan(1);
    expect((await server.call('GET', '/v1/domains')).status).toBe(200);
    expect(server.stderr()).toContain('has not answered for');
  });

  it('promise P18: fails 64 clients within seconds while messages is locked, and then serves requests again', async () => {
    const server = await journey.start();
    await send(server);
    const locked = Promise.withResolvers<void>();
    const released = Promise.withResolvers<void>();
    const holder = journey.sql.begin(async (tx) => {
      // Our own transactions are aborted after a few seconds of idling.
      await tx`set local idle_in_transaction_session_timeout = 0`;
      await tx`lock table messages in share mode`;
      locked.resolve();
      await released.promise;
    });
    await locked.promise;

    const responses = await Promise.all(Array.from({ length: 64 }, () => timed(send(server))));
    const ready = await server.call('GET', '/readyz', { key: null });
    released.resolve();
    await holder;

    expect(new Set(responses.map(({ status }) => status))).toEqual(new Set([500]));
    expect(Math.max(...responses.map(({ ms }) => ms))).toBeLessThan(8000);
    expect(ready).toMatchObject({ status: 503, body: { roles: { rest: { can_accept: false } } } });
    expect((await send(server)).status).toBe(202);
  });

  it('promise P18: fails 64 clients immediately on a full disk, tries each batch once, and then recovers', async () => {
    const server = await journey.start();
    await send(server);
    // Fails the statement the way Postgres does when it cannot extend a file.
    await journey.sql.unsafe(`
      create sequence tried;
      create function disk_full() returns trigger language plpgsql as $$
      begin
        perform nextval('tried');
        raise 'could not extend file: No space left on device' using errcode = 'disk_full';
      end $$;
      create trigger disk_full before insert on messages for each statement execute function disk_full();`);

    const responses = await Promise.all(Array.from({ length: 64 }, () => timed(send(server))));
    const [{ tried } = { tried: 0 }] = await journey.sql<{ tried: number }[]>`
      select last_value::int as tried from tried`;
    await journey.sql`drop trigger disk_full on messages`;

    expect(new Set(responses.map(({ status }) => status))).toEqual(new Set([500]));
    expect(Math.max(...responses.map(({ ms }) => ms))).toBeLessThan(8000);
    expect(tried).toBeLessThanOrEqual(64);
    expect(server.stderr()).toContain('No space left on device');
    expect((await send(server)).status).toBe(202);
    await expect.poll(() => statesOf(journey.sql), PATIENCE).toEqual({ delivered: 2 });
  });
});

describe('a read-only database', () => {
  it('chaos C9: makes /readyz report not ready', async () => {
    const server = await journey.start({ ROLES: 'rest' });
    const name = (await journey.sql<{ name: string }[]>`select current_database() as name`)[0]?.name ?? '';
    await journey.sql.unsafe(`alter database "${name}" set default_transaction_read_only = on`);
    await journey.sql`
      select pg_terminate_backend(pid) from pg_stat_activity
      where datname = current_database() and application_name like 'postrider%' and pid <> pg_backend_pid()`.catch(
      () => undefined,
    );

    await expect
      .poll(async () => (await server.call('GET', '/readyz', { key: null })).body, PATIENCE)
      .toMatchObject({ status: 'not_ready', database: 'read_only', roles: { rest: { can_accept: false } } });
  });
});

describe('a server start', () => {
  it('chaos C7: waits for an unavailable database, reports it once, and N7 counts live workers', async () => {
    await proxy.close();
    const server = launch({ ...journey.env, DATABASE_URL: proxy.url });
    await server.says(/Waiting for the database at 127[\d.]+:\d+ \(.*ECONNREFUSED.*\)/);
    await pause(1500);
    await proxy.open();
    const [, url] = await server.says(/Postrider is ready at (\S+)/);

    expect(server.stdout().match(/Waiting for the database/g)).toHaveLength(1);
    const ready = await fetch(`${url}/readyz`);
    expect(await ready.json()).toMatchObject({ status: 'ready', workers: 1, roles: { worker: { can_deliver: true } } });
    server.signal('SIGTERM');
    await server.exited;
    const api = await journey.start({ ROLES: 'rest' });
    expect(api.stdout()).toContain('none running');
    expect((await api.call('GET', '/readyz', { key: null })).body).toMatchObject({ workers: 0 });
  });

  it('chaos C7, C8: continues over a new connection if the database stops responding between two responses', async () => {
    const silent = proxy.silenceAt('is not null as present');
    const server = launch({
      ...journey.env,
      DATABASE_URL: proxy.url,
      LIMITS: 'database_answer=2s',
    });
    await silent;

    await server.says(/Postrider is ready/);

    server.signal('SIGTERM');
    expect(await server.exited).toEqual({ code: 0, signal: null });
  });

  it('chaos C7, newcomer N7: fails immediately for an unknown database, or a SECRET_KEY that can decrypt nothing', async () => {
    const first = await journey.start();
    await first.end();
    const unknown = new URL(journey.env.DATABASE_URL ?? '');
    unknown.pathname = '/nowhere';

    const [lost, wrong] = [
      launch({ ...journey.env, DATABASE_URL: unknown.href }),
      launch({ ...journey.env, SECRET_KEY: 'x'.repeat(40) }),
    ];

    expect(await Promise.all([lost.exited, wrong.exited])).toEqual(Array(2).fill({ code: 1, signal: null }));
    expect(lost.stderr()).toContain('"nowhere" does not exist');
    expect(wrong.stderr()).toMatch(/SECRET_KEY cannot decrypt \d+ stored secret/);
  });

  it('newcomer N19: reports that the database server has no TLS if sslmode requires it', async () => {
    const tls_url = new URL(journey.env.DATABASE_URL ?? '');
    tls_url.searchParams.set('sslmode', 'require');

    const started = launch({ ...journey.env, DATABASE_URL: tls_url.href });

    expect(await started.exited).toMatchObject({ code: 1 });
    expect(started.stderr()).toContain('does not offer TLS, which is required for other hosts');
  });

  it('promise P22: re-encrypts everything after a SECRET_KEY change, so that the old key can be removed', async () => {
    const first = await journey.start();
    await first.end();
    const before = await hashKey(journey.env.SECRET_KEY ?? '');
    const fresh = 'n'.repeat(40);
    const second = await journey.start({ SECRET_KEY: fresh, SECRET_KEY_PREVIOUS: journey.env.SECRET_KEY ?? '' });
    await expect
      .poll(() => second.logged().map(({ msg }) => msg), PATIENCE)
      .toContain('all secrets are encrypted with SECRET_KEY');
    await second.end();

    const third = await journey.start({ SECRET_KEY: fresh });
    await send(third);

    await expect.poll(() => statesOf(journey.sql), PATIENCE).toEqual({ delivered: 1 });
    expect(await hashKey(fresh)).toEqual(before);
  });
});

/** Returns the key for hashing erased addresses. No rotation changes this key. */
async function hashKey(secret_key: string): Promise<Buffer> {
  const [row] = await journey.sql<{ id: string; encrypted_key: Buffer }[]>`
    select id, encrypted_key from suppression_hash_keys`;
  return createEncryption(secret_key).decrypt(
    row?.encrypted_key ?? Buffer.alloc(0),
    `key of the suppression hash ${row?.id}`,
  );
}

describe('an outage', () => {
  it('promise P4, P23: preserves the result of email sent past the dot, and is logged once, with a count', async () => {
    const reached = Promise.withResolvers<void>();
    const released = Promise.withResolvers<void>();
    journey.smtp.script(({ stage }) => {
      if (stage === 'data') reached.resolve();
      return { kind: 'stall', until: released.promise };
    });
    const server = await journey.start({ DATABASE_URL: proxy.url });
    await send(server);
    await reached.promise;

    await proxy.close();
    released.resolve();
    await pause(6000);
    await proxy.open();

    await expect.poll(() => statesOf(journey.sql), PATIENCE).toEqual({ delivered: 1 });
    expect(journey.smtp.messages).toHaveLength(1);
    const outage_lines = server.logged().filter(({ msg }) => String(msg).includes('the database is unreachable'));
    expect(outage_lines).toHaveLength(1);
    expect(server.logged().filter(({ err }) => JSON.stringify(err ?? '').includes('ECONN'))).toHaveLength(0);
  });
});

describe('a connection lost between claiming an email and reading its body', () => {
  it('promise P8: uses no attempt, and the email is handed back and sent once', async () => {
    const server = await journey.start({ DATABASE_URL: proxy.url });
    const cut = proxy.cutAt('b.headers, b.attachments\n    from unnest(');
    // Larger bodies are not read as part of the claim.
    expect(
      (await server.call('POST', '/v1/email/send', { body: { ...hello, text: 'x'.repeat(300_000) } })).status,
    ).toBe(202);
    await cut;

    await expect.poll(() => statesOf(journey.sql), PATIENCE).toEqual({ delivered: 1 });

    expect(journey.smtp.messages).toHaveLength(1);
    expect([...(await journey.sql`select number, outcome from attempts`)]).toEqual([
      { number: 1, outcome: 'accepted' },
    ]);
  });
});
