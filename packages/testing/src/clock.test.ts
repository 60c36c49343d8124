import { connect, type Sql } from '@postrider/db';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createTestClock, type TestClock } from './clock.ts';
import { createDatabase, type TestDatabase } from './database.ts';

const HOUR_MS = 3_600_000;
let database: TestDatabase;
let sql: Sql;
let clock: TestClock;
beforeAll(async () => {
  database = await createDatabase();
  sql = connect(database.url, { max: 2, application_name: 'clock-test' });
  clock = createTestClock(sql);
});
afterAll(async () => {
  await sql.end();
  await database.drop();
});

async function databaseTimes(): Promise<{ product: number; queue: number }> {
  const [row] = await sql<{ product: Date; queue: Date }[]>`select clock_now() as product, pgboss.job_now() as queue`;
  if (!row) throw new Error('the database told no time');
  return { product: row.product.getTime(), queue: row.queue.getTime() };
}

describe('the test clock', () => {
  it('can be frozen in the process, the database and pg-boss alike', async () => {
    const noon = new Date('2031-03-01T12:00:00.123Z');

    await clock.freeze(noon);

    expect(await databaseTimes()).toEqual({ product: noon.getTime(), queue: noon.getTime() });
    expect(clock.now()).toBe(noon.getTime());
  });

  it('advances by hours immediately', async () => {
    await clock.freeze(new Date('2031-03-01T12:00:00Z'));

    await clock.advance(25 * HOUR_MS);
    await clock.advance(1);

    const expected_ms = Date.parse('2031-03-02T13:00:00.001Z');
    expect(await databaseTimes()).toEqual({ product: expected_ms, queue: expected_ms });
    expect(clock.now()).toBe(expected_ms);
  });

  it('continues from the time to which it was last set', async () => {
    const noon = Date.parse('2031-03-01T12:00:00Z');
    await clock.freeze(new Date(noon));

    await clock.unfreeze();

    const { product } = await databaseTimes();
    expect(product).toBeGreaterThanOrEqual(noon);
    expect(product).toBeLessThan(noon + HOUR_MS);
    expect(Math.abs(clock.now() - product)).toBeLessThan(HOUR_MS / 60);
  });

  it('is separate for each of two databases', async () => {
    await clock.freeze(new Date('2031-03-01T12:00:00Z'));
    const other = await createDatabase();
    const otherSql = connect(other.url, { max: 1, application_name: 'clock-test' });

    const [row] = await otherSql<{ apart: boolean }[]>`select clock_now() = now() as apart`;

    expect(row?.apart).toBe(true);
    await otherSql.end();
    await other.drop();
  });
});
