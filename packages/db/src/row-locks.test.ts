import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { connect } from './connect.ts';
import { equalsUnpruned } from './planner.ts';
import type { Sql } from './sql.ts';

const database = `test_row_locks_${randomBytes(6).toString('hex')}`;
const url = new URL(`/${database}`, inject('postgres_url')).href;
const COUNT = 2999;
const ROUNDS = 3;
let admin: Sql;
let sql: Sql;

beforeAll(async () => {
  admin = connect(inject('postgres_url'), { max: 1, application_name: 'row-locks-test' });
  await admin`create database ${admin(database)}`;
  sql = connect(url, { max: 4, application_name: 'row-locks-test' });
  for (const name of ['parents', 'children']) {
    await sql`create table ${sql(name)} (owner int, id int, value text, primary key (id, owner)) partition by range (id)`;
    for (const from of [0, 1000, 2000])
      await sql`create table ${sql(`${name}_${from}`)} partition of ${sql(name)}
        for values from (${sql.unsafe(String(from))}) to (${sql.unsafe(String(from + 1000))})`;
    await sql`insert into ${sql(name)} select 1, n, repeat('x', 200) from generate_series(1, ${COUNT}) as n`;
  }
});

afterAll(async () => {
  await sql.end();
  await admin`drop database ${admin(database)} with (force)`;
  await admin.end();
});

/** Locks rows of one table and updates those of another, as the results of emails are recorded. */
async function lockAndUpdate(ids: readonly number[]): Promise<number> {
  // Texts of all lengths, so that freed memory is used again.
  const texts = ids.map((id) => `${id},${'x'.repeat(id % 300)}`).join(';');
  const rows = await sql`
    with keys as materialized (
      select f[1]::int as id, f[2] as value from (
        select string_to_array(record, ',') as f from string_to_table(${texts}::text, ';') as record offset 0
      ) as records
    ),
    locks as materialized (
      select a.* from keys a cross join lateral (
        select from parents p where ${equalsUnpruned(sql, sql`p.id, p.owner`, sql`a.id, 1`)} for no key update
      ) l
    ),
    updates as (
      update children c set value = upper(c.value) || l.value from locks l
      where ${equalsUnpruned(sql, sql`c.id, c.owner`, sql`l.id, 1`)}
      returning c.id, l.value
    ),
    counts as (
      update parents p set value = x.value from (select id, max(value) as value from updates group by id) x
      where ${equalsUnpruned(sql, sql`p.id, p.owner`, sql`x.id, 1`)}
      returning p.id
    )
    select id, c.value from updates c join counts using (id)`;
  return rows.length;
}

// Postgres 18 crashes here with plain equality: docs/decisions/0035-no-pruning-beside-row-locks.md
describe('a statement that locks rows of partitioned tables', () => {
  it.each(['parents', 'children'])('finds every row although some %s change while it waits', async (changing) => {
    const ids = Array.from({ length: 500 }, (_, index) => ((index * 7919) % COUNT) + 1);
    const counts: number[] = [];

    for (let round = 0; round < ROUNDS; round++) {
      const blocking = Promise.withResolvers<void>();
      const change = sql.begin(async (tx) => {
        await tx`update ${tx(changing)} set value = value where id % 3 = 2`;
        blocking.resolve();
        await untilOneWaits();
      });
      await blocking.promise;
      const [count] = await Promise.all([lockAndUpdate(ids), change]);
      counts.push(count);
    }

    expect(counts).toEqual(Array.from({ length: ROUNDS }, () => ids.length));
  });
});

async function untilOneWaits(): Promise<void> {
  const waiting = () => admin`
    select from pg_stat_activity where datname = ${database} and wait_event_type = 'Lock'`;
  while ((await waiting()).length === 0) await new Promise((resolve) => setTimeout(resolve, 5));
}
