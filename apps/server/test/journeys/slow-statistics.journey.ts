import { afterAll, beforeAll, expect, it } from 'vitest';
import { hello, type Journey, openJourney, statesOf } from '../journey.ts';

const PATIENCE = { timeout: 100_000, interval: 200 };
const MINUTE_MS = 60_000;
/** Longer than any statement of a request may take. */
const SLOW_SECONDS = 32;

let journey: Journey;
beforeAll(async () => {
  journey = await openJourney();
});
afterAll(() => journey.stop());

it('promise P25: statistics whose steps take over half a minute are computed, and their progress is saved', async () => {
  const { sql, clock } = journey;
  const server = await journey.start();
  await server.call('POST', '/v1/email/send', { body: hello });
  await expect.poll(() => statesOf(sql), PATIENCE).toEqual({ delivered: 1 });
  await sql.unsafe(`
    create sequence steps;
    create function take_long() returns trigger language plpgsql as $$
    begin if nextval('steps') = 1 then perform pg_sleep(${SLOW_SECONDS}); end if; return null; end $$;
    create trigger take_long before delete on stat_minutes for each statement execute function take_long()`);
  const [before] = await sql<{ early_until: Date }[]>`select early_until from roll_ups where name = 'stats'`;
  await clock.advance(2 * MINUTE_MS);

  await sql`insert into pgboss.job (name, data) values ('numbers.roll_up', '{}')`;

  const accepted = async () =>
    (
      await sql<{ count: number }[]>`
      select coalesce(sum(accepted), 0)::int as count from stat_minutes where dimension = 'none'`
    )[0]?.count ?? 0;
  await expect.poll(accepted, PATIENCE).toBeGreaterThan(0);
  const [after] = await sql<{ early_until: Date }[]>`select early_until from roll_ups where name = 'stats'`;
  expect(after?.early_until.getTime()).toBeGreaterThan(before?.early_until.getTime() ?? Number.POSITIVE_INFINITY);
  expect(server.stderr()).not.toContain('statement timeout');
});
