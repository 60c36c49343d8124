import { randomBytes } from 'node:crypto';
import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { connect, type Sql } from '@postrider/db';
import { type EmbeddedServer, startEmbedded } from '@postrider/db/embedded';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { killLeftOvers, type ServerProcess, startServer } from '../server-process.ts';

// Uses a separate server, because making commits wait for a standby is a server-wide setting.
const settings = { wal_level: 'replica', max_wal_senders: '4', fsync: 'off', full_page_writes: 'off' };
const hello = { from: 'hello@sandbox.test', to: 'ada@example.com', subject: 'Hello', text: 'Hi' };
const retried = { 'idempotency-key': 'order-1' };
let data_dir: string;
let postgres: EmbeddedServer;
let sql: Sql;
let server: ServerProcess;
beforeAll(async () => {
  data_dir = await mkdtemp(join(tmpdir(), 'postrider-standby-'));
  // Postgres may run as a different user.
  await chmod(data_dir, 0o755);
  postgres = await startEmbedded({ data_dir, settings });
  sql = connect(postgres.url, { max: 2, application_name: 'postrider-test' });
  const env = { DATABASE_URL: postgres.url, SECRET_KEY: randomBytes(32).toString('hex') };
  server = await startServer({
    ...env,
    BOOTSTRAP_API_KEY: `pr_live_${randomBytes(32).toString('hex')}`,
    LIMITS: 'database_accept=60s',
  });
});
afterAll(async () => {
  await killLeftOvers();
  await sql?.end({ timeout: 2 });
  await postgres?.stop();
  await rm(data_dir, { recursive: true, force: true });
});

/** Makes commits wait from now on for a standby of this name, which does not exist. */
async function wantStandby(name: string): Promise<void> {
  await sql.unsafe(`alter system set synchronous_standby_names = '${name}'`);
  await sql`select pg_reload_conf()`;
  const readyz = () => server.call('GET', '/readyz').then(({ body }) => body.commits_wait_for);
  await expect.poll(readyz).toBe(name === '' ? 'disk' : 'standby');
}

/**
 * Sends a message and ends its commit's wait, as an operator might to unblock writes, or closes its connection, as a
 * server shutdown does. Returns the response status.
 */
async function sendUnconfirmed(
  headers: Readonly<Record<string, string>>,
  ends: 'pg_cancel_backend' | 'pg_terminate_backend' = 'pg_cancel_backend',
): Promise<number> {
  let ended_at: number | null = null;
  const sending = server.call('POST', '/v1/email/send', { body: hello, headers }).then(({ status }) => {
    ended_at = status;
  });
  await expect
    .poll(async () => {
      await sql`select ${sql(ends)}(pid) from pg_stat_activity
        where wait_event = 'SyncRep' and application_name = 'postrider-accept'`;
      return ended_at;
    })
    .not.toBe(null);
  await sending;
  return ended_at ?? 0;
}

it('email committed only on the primary does not get a 202 response', async () => {
  // The first message caches the key, so the second takes the fast path.
  expect((await server.call('POST', '/v1/email/send', { body: hello })).status).toBe(202);
  await wantStandby('missing_standby');

  expect(await sendUnconfirmed({})).toBe(500);
  expect(await sendUnconfirmed(retried)).toBe(500);
  // A retry finds the first request's response, which is not on any standby either.
  expect(await sendUnconfirmed(retried)).toBe(500);
  await wantStandby('');

  const response = await server.call('POST', '/v1/email/send', { body: hello, headers: retried });

  expect(response.status).toBe(202);
  expect(response.headers.get('idempotent-replayed')).toBe('true');
  // Messages whose response was a 500 are stored and sent, and the retries created no duplicates.
  await expect
    .poll(() => sql`select state::text, count(*) from recipients group by state`.then((rows) => [...rows]))
    .toEqual([{ state: 'delivered', count: 3 }]);
});

it('email whose commit wait ends with the connection (SQLSTATE 57P01) does not get a 202 response', async () => {
  const [before] = await sql<{ count: number }[]>`select count(*)::int as count from messages`;
  const headers = { 'idempotency-key': 'order-2' };
  expect((await server.call('POST', '/v1/email/send', { body: hello })).status).toBe(202);
  await wantStandby('missing_standby');

  expect(await sendUnconfirmed(headers, 'pg_terminate_backend')).toBe(500);
  expect(await sendUnconfirmed(headers, 'pg_terminate_backend')).toBe(500);
  await wantStandby('');

  expect((await server.call('POST', '/v1/email/send', { body: hello, headers })).status).toBe(202);
  expect(await sql`select from messages`).toHaveLength((before?.count ?? 0) + 2);
});
