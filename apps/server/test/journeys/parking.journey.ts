import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import type { Tx } from '@postrider/db';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { hello, type Journey, openJourney, statesOf } from '../journey.ts';

const CLI = fileURLToPath(new URL('../../../../packages/cli/src/launch.mjs', import.meta.url));
const PATIENCE = { timeout: 30_000, interval: 20 };
const EMAILS = 20;

let journey: Journey;
beforeAll(async () => {
  journey = await openJourney();
});
afterAll(() => journey.stop());

it('chaos C14: email is parked even if its SQL statement loses a deadlock', async () => {
  const { sql, env } = journey;
  const api = await journey.start({ ROLES: 'rest' });
  // A single statement parks all messages.
  const hold = ['queues', 'hold', '--local', 'destination', 'example.com', '--reason', 'An outage there'];
  await promisify(execFile)(process.execPath, [CLI, ...hold], { env: { ...env } });
  const batch = Array.from({ length: EMAILS }, (_, place) => ({ ...hello, to: `to${place}@example.com` }));
  expect((await api.call('POST', '/v1/email/batch', { body: batch })).status).toBeLessThan(300);
  const waits = (words: string, wait: 'relation' | 'transactionid') => async () => {
    const rows = await sql`
      select from pg_stat_activity
      where datname = current_database() and wait_event = ${wait} and query like ${`%${words}%`}`;
    return rows.length;
  };
  const inTransaction = async (run: (tx: Tx) => Promise<void>) => {
    const [start, may_end] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const transaction = sql.begin(async (tx) => {
      // Our own transactions are aborted after a few seconds of idling.
      await tx`set local idle_in_transaction_session_timeout = 0`;
      await run(tx);
      start.resolve();
      await may_end.promise;
    });
    await Promise.race([start.promise, transaction]);
    return async () => {
      may_end.resolve();
      await transaction;
    };
  };
  const openTable = await inTransaction(async (tx) => void (await tx`lock table parked_deliveries in exclusive mode`));
  const worker = await journey.start({ ROLES: 'worker' });
  await expect.poll(waits('with withdrawn as', 'relation'), PATIENCE).toBe(1);
  const jobs = await sql<{ id: string }[]>`
    select id::text as id from pgboss.job where name = 'delivery.attempt' and state = 'active' order by id`;
  const lock = async (tx: Tx, from: number, to: number) => {
    for (const { id } of jobs.slice(from, to))
      await tx`select from pgboss.job where name = 'delivery.attempt' and id = ${id}::uuid for update`;
  };

  expect(jobs).toHaveLength(EMAILS);
  const openMiddle = await inTransaction((tx) => lock(tx, 10, 11));
  const sweep = sql.begin(async (tx) => {
    // Ensures that the worker detects the deadlock.
    await tx`set local deadlock_timeout = '60s'`;
    await lock(tx, EMAILS - 1, EMAILS);
    await openTable();
    await expect.poll(waits('with withdrawn as', 'transactionid'), PATIENCE).toBe(1);
    await lock(tx, 0, 1);
  });
  await expect.poll(waits('select from pgboss.job where name', 'transactionid'), PATIENCE).toBe(1);
  await openMiddle();
  await sweep;

  const deadlocks = async () =>
    (
      await sql<{ count: number }[]>`
      select deadlocks::int as count from pg_stat_database where datname = current_database()`
    )[0]?.count ?? 0;
  await expect.poll(deadlocks, PATIENCE).toBeGreaterThan(0);
  await expect.poll(async () => (await sql`select from parked_deliveries`).length, PATIENCE).toBe(EMAILS);
  expect(worker.stderr()).not.toContain('deadlock');
  await expect.poll(() => statesOf(sql), PATIENCE).toEqual({ queued: EMAILS });
});
