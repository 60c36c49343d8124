import { afterAll, beforeAll, expect, it } from 'vitest';
import { hello, type Journey, openJourney, statesOf } from '../journey.ts';

const PATIENCE = { timeout: 30_000, interval: 20 };
const MAILS = 20;

let journey: Journey;
beforeAll(async () => {
  journey = await openJourney();
});
afterAll(() => journey.stop());

it('chaos C14: mail is parked although its statement loses a deadlock, and goes out later', async () => {
  const { sql, smtp } = journey;
  const api = await journey.start({ ROLES: 'rest' });
  // More than this minute has: the rest is parked.
  await sql`insert into destination_limits (destination, messages_per_minute, changed_at)
    values (${`${smtp.host}:${smtp.port}`}, 1, clock_now())`;
  const batch = Array.from({ length: MAILS }, (_, place) => ({ ...hello, to: `to${place}@example.com` }));
  expect((await api.call('POST', '/v1/email/batch', { body: batch })).status).toBeLessThan(300);
  const blocked = (words: string) => async () => {
    const rows = await sql`
      select from pg_stat_activity
      where datname = current_database() and wait_event_type = 'Lock' and query like ${`%${words}%`}`;
    return rows.length;
  };
  const held = Promise.withResolvers<void>();
  const open = Promise.withResolvers<void>();
  const holder = sql.begin(async (tx) => {
    await tx`lock table parked_deliveries in exclusive mode`;
    held.resolve();
    await open.promise;
  });
  await held.promise;
  const worker = await journey.start({ ROLES: 'worker' });
  await expect.poll(blocked('with withdrawn as'), PATIENCE).toBe(1);

  const sweep = sql.begin(async (tx) => {
    // The other one is to find the deadlock.
    await tx`set local deadlock_timeout = '60s'`;
    const jobs = await tx<{ id: string }[]>`
      select id::text as id from pgboss.job where name = 'delivery.attempt' and state = 'active' order by id desc`;
    const lock = (id = '') =>
      tx`select from pgboss.job where name = 'delivery.attempt' and id = ${id}::uuid for update`;
    await lock(jobs[0]?.id);
    open.resolve();
    await holder;
    await expect.poll(blocked('with withdrawn as'), PATIENCE).toBe(1);
    await lock(jobs.at(-1)?.id);
  });
  await sweep;

  const deadlocks = async () =>
    (
      await sql<{ count: number }[]>`
      select deadlocks::int as count from pg_stat_database where datname = current_database()`
    )[0]?.count ?? 0;
  await expect.poll(deadlocks, PATIENCE).toBe(1);
  await expect.poll(async () => (await sql`select from parked_deliveries`).length, PATIENCE).toBe(MAILS - 1);
  expect(worker.logged().map(({ msg }) => msg)).not.toContain('mail could not be parked');
  await expect.poll(() => statesOf(sql), PATIENCE).toEqual({ delivered: 1, queued: MAILS - 1 });
});
