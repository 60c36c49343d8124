import { chmod, mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { type AddressInfo, connect, createServer, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { copiesOf, hello, type Journey, openJourney, statesOf } from '../journey.ts';
import { killLeftOvers, launch, secretIn, startServer } from '../server-process.ts';

describe('SIGTERM', () => {
  let journey: Journey;
  beforeEach(async () => {
    journey = await openJourney();
  });
  afterEach(() => journey.stop());

  it('exits with code 0 under load, and each accepted email is delivered exactly once', async () => {
    const first = await journey.start();
    const accepted: string[] = [];
    let ending: Promise<unknown> | null = null;
    await Promise.all(
      Array.from({ length: 10 }, async () => {
        while (ending === null) {
          const response = await first.call('POST', '/v1/email/send', { body: hello }).catch(() => null);
          if (response?.status === 202) accepted.push(String(response.body.id));
          if (accepted.length >= 150) ending ??= first.end();
        }
      }),
    );
    // The exit code would be 1 if shutdown had not finished within its fifteen seconds.
    expect(await first.exited).toEqual({ code: 0, signal: null });

    const stored = await journey.sql<{ id: string }[]>`select id from messages`;
    const storedIds = new Set(stored.map((row) => row.id));
    expect(accepted.filter((id) => !storedIds.has(id))).toEqual([]);
    expect((await statesOf(journey.sql)).sending ?? 0).toBe(0);
    await journey.start();
    await expect.poll(() => statesOf(journey.sql), { timeout: 30_000 }).toEqual({ delivered: storedIds.size });
    const copies = copiesOf(journey.smtp);
    expect(copies.size).toBe(storedIds.size);
    expect([...copies.values()].filter((copy) => copy.copies !== 1)).toEqual([]);
  });

  it('is announced to load balancers first, while requests are still accepted', async () => {
    const server = await journey.start({ LIMITS: 'drain=5s' });
    const ending = server.end();

    await expect.poll(() => server.call('GET', '/readyz').then(({ status }) => status)).toBe(503);
    const response = await server.call('POST', '/v1/email/send', { body: hello });

    expect(response.status).toBe(202);
    expect(await ending).toEqual({ code: 0, signal: null });
  });

  it('hands back email before the dot, and records email past the dot as unknown, even during a drain', async () => {
    const first = await journey.start({ LIMITS: 'drain=7s' });
    const reached = Promise.withResolvers<void>();
    const released = Promise.withResolvers<void>();
    let stalled = 0;
    journey.smtp.script(({ stage, to }) => {
      const at = to.startsWith('early') ? 'rcpt' : 'data';
      if (stage === at && ++stalled === 2) reached.resolve();
      return { kind: 'stall', until: released.promise, at };
    });
    for (const to of ['early@example.com', 'late@example.com']) {
      expect((await first.call('POST', '/v1/email/send', { body: { ...hello, to } })).status).toBe(202);
    }
    await reached.promise;

    expect(await first.end()).toEqual({ code: 0, signal: null });

    const rows = await journey.sql`select email, state::text, attempt_count, lease from recipients order by email`;
    expect([...rows]).toEqual([
      { email: 'early@example.com', state: 'queued', attempt_count: 0, lease: null },
      { email: 'late@example.com', state: 'deferred', attempt_count: 1, lease: null },
    ]);
    expect([...(await journey.sql`select outcome, stage from attempts`)]).toEqual([
      { outcome: 'unknown', stage: 'after_dot' },
    ]);

    journey.smtp.script(() => ({ kind: 'accept' }));
    released.resolve();
    await journey.start();
    await journey.clock.advance(61_000);
    await expect.poll(() => statesOf(journey.sql), { timeout: 30_000 }).toEqual({ delivered: 2 });
    const copies = copiesOf(journey.smtp);
    expect(copies.size).toBe(2);
    for (const copy of copies.values()) expect(copy.bodies).toBe(1);
  });
});

describe('a private database', () => {
  let directory: string;
  beforeEach(async () => {
    directory = await mkdtemp(join(tmpdir(), 'postrider-shutdown-'));
    // Postgres refuses to run as root, so it may run as a user that needs access to this directory.
    await chmod(directory, 0o755);
  });
  afterEach(async () => {
    await killLeftOvers();
    await rm(directory, { recursive: true, force: true });
  });

  /**
   * Returns the port of the Postgres server that the data directory refers to, wherever its data is, or null if none is
   * running.
   */
  async function postgresPort(): Promise<number | null> {
    const state = JSON.parse(await readFile(join(directory, 'embedded.json'), 'utf8')) as { directory: string };
    const path = join(resolve(directory, state.directory), 'data', 'postmaster.pid');
    const file = await readFile(path, 'utf8').catch(() => null);
    return file === null ? null : Number(file.split('\n')[3]);
  }

  /** Returns the URL that the process announces in its data directory, or undefined until it is listening. */
  async function announcedUrl(): Promise<string | undefined> {
    const folder = join(directory, 'embedded-holders');
    const names = await readdir(folder).catch(() => []);
    const texts = await Promise.all(names.map((name) => readFile(join(folder, name), 'utf8').catch(() => '')));
    return /"url":"(http[^"]+)"/.exec(texts.join('\n'))?.[1];
  }

  function canConnect(port: number): Promise<boolean> {
    return new Promise((done) => {
      const socket = connect(port, '127.0.0.1');
      socket.on('connect', () => done(true)).on('error', () => done(false));
      socket.on('connect', () => socket.destroy());
    });
  }

  it('stops on Ctrl-C without leftover processes, and is reused by a second start that shows no secrets', async () => {
    const env = { DATA_DIR: directory };
    const first = await startServer(env);
    const key = secretIn(first.stdout(), 'api-key');
    const mail = { ...hello, from: 'hello@sandbox.test' };
    const sent = await first.call('POST', '/v1/email/send', { key, body: mail });
    expect(sent.status).toBe(202);
    const port = (await postgresPort()) ?? 0;
    expect(await canConnect(port)).toBe(true);

    expect(await first.end('SIGINT')).toEqual({ code: 0, signal: null });

    expect(await postgresPort()).toBe(null);
    expect(await canConnect(port)).toBe(false);
    const second = await startServer(env);
    expect(second.stdout()).not.toMatch(/pr_live_|first-start|Creating the database/);
    expect((await second.call('GET', `/v1/email/logs/${sent.body.id}`, { key })).status).toBe(200);
    second.hangUp();
    expect((await second.call('GET', '/healthz')).status).toBe(200);
    expect(await second.end('SIGHUP')).toEqual({ code: 0, signal: null });
    expect(await postgresPort()).toBe(null);
    expect(await canConnect(port)).toBe(false);
  });

  it('newcomer N9: reports the first server to a second one on the same data, but admits workers', async () => {
    const first = await startServer({ DATA_DIR: directory });

    const second = launch({ DATA_DIR: directory });
    const worker = launch({ DATA_DIR: directory, ROLES: 'worker' });

    expect(await second.exited).toEqual({ code: 1, signal: null });
    expect(second.stderr()).toContain(`It runs at http://localhost:${first.port}.`);
    await worker.says(/Postrider is ready/);
    worker.signal('SIGTERM');
    await worker.exited;
    expect((await first.call('GET', '/healthz')).status).toBe(200);
    expect(await first.end()).toEqual({ code: 0, signal: null });
  });

  it('shuts down cleanly if its output is closed after the first line', async () => {
    const server = launch({ DATA_DIR: directory });
    await server.says(/\S/);
    server.hangUp();
    const readyz = async () => (await fetch(`${await announcedUrl()}/readyz`).catch(() => null))?.status;
    await expect.poll(readyz, { timeout: 60_000 }).toBe(200);
    expect(await postgresPort()).not.toBe(null);

    server.signal('SIGTERM');

    expect(await server.exited).toEqual({ code: 0, signal: null });
    expect(await postgresPort()).toBe(null);
  });
});

describe('a failed start', () => {
  let journey: Journey;
  let holder: Server;
  let busy: string;
  beforeEach(async () => {
    journey = await openJourney();
    holder = createServer();
    await new Promise<void>((done) => holder.listen(0, '127.0.0.1', done));
    busy = String((holder.address() as AddressInfo).port);
  });
  afterEach(async () => {
    await new Promise((done) => holder.close(done));
    await journey.stop();
  });

  it.each(['PORT', 'CAPTURE_PORT'])('reports that the configured %s is in use, and exits with code 1', async (name) => {
    const server = launch({ ...journey.env, BOOTSTRAP_API_KEY: '', DELIVERY: 'capture', [name]: busy });

    expect(await server.exited).toEqual({ code: 1, signal: null });

    expect(server.stderr()).toContain(`${name} ${busy} is in use`);
    // The key was created before the ports were tried, and is never shown again.
    expect(secretIn(server.stdout(), 'api-key')).toMatch(/^pr_live_[0-9a-f]{64}$/);
  });

  it.each([
    ['SECRET_KEY', { SECRET_KEY: '' }],
    ['DELIVERY', { DELIVERY: 'capture,mx' }],
    ['INBOUND_PORT', { PORT: '1711', INBOUND_PORT: '1711' }],
    ['TLS_KEY_FILE', { TLS_CERT_FILE: '/nowhere.pem' }],
    ['DATABASE_URL', { DATABSE_URL: 'postgres://127.0.0.1/x' }],
    ['ROLES', { ROLES: 'rest,wroker' }],
    ['BOOTSTRAP_API_KEY', { BOOTSTRAP_API_KEY: 'secret' }],
  ])('rejects an invalid environment, and reports %s', async (name, env) => {
    const server = launch({ ...journey.env, ...env });

    expect(await server.exited).toEqual({ code: 1, signal: null });

    expect(server.stderr()).toContain(name);
    expect(server.stderr()).not.toContain('    at ');
    expect(server.stdout()).toBe('');
  });

  it('exits with code 0 when stopped while waiting for migrations', async () => {
    await journey.sql`delete from migrations`;
    const server = launch({ ...journey.env, ROLES: 'worker' });
    await server.says(/Waiting for npx postrider migrate/);

    server.signal('SIGTERM');

    expect(await server.exited).toEqual({ code: 0, signal: null });
  });
});
