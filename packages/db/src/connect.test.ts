import { randomBytes } from 'node:crypto';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { throughPooler } from './address.ts';
import { arrayLiteral, connect, sqlState } from './connect.ts';
import type { Sql } from './sql.ts';

const database = `test_connect_${randomBytes(6).toString('hex')}`;
const url = new URL(`/${database}`, inject('postgres_url')).href;
let admin: Sql;
let sql: Sql;

beforeAll(async () => {
  admin = connect(inject('postgres_url'), { max: 1, application_name: 'connect-test' });
  await admin`create database ${admin(database)}`;
  sql = connect(url, { max: 1, application_name: 'connect-test' });
});

afterAll(async () => {
  await sql.end();
  await admin`drop database ${admin(database)} with (force)`;
  await admin.end();
});

describe('connect', () => {
  it('returns a query’s own rows after the previous query failed while streaming', async () => {
    const failing = sql`select 1 / (2000 - n) as quotient from generate_series(1, 4000) as n`;
    await expect(failing).rejects.toThrow('division by zero');

    const rows = await sql`select 'right' as answer`;

    expect([...rows]).toEqual([{ answer: 'right' }]);
  });

  it('returns a query’s own rows after a previous statement timeout', async () => {
    await sql`set statement_timeout = '500ms'`;
    await expect(sql`select n, pg_sleep(n / 2000) from generate_series(1, 4000) as n`).rejects.toThrow('timeout');

    const rows = await sql`select 1 as one`;

    expect([...rows]).toEqual([{ one: 1 }]);
    await sql`set statement_timeout = '30s'`;
  });

  it('survives a terminated connection in a transaction, and sends none of that transaction on the next connection', async () => {
    const pool = connect(url, { max: 1, application_name: 'cut' });
    await pool`create table if not exists cut (step text)`;
    const gate = Promise.withResolvers<void>();
    const late_queries: Promise<unknown>[] = [];
    const lost = pool.begin(async (tx) => {
      await tx`insert into cut values ('lost')`;
      await sql`select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and application_name = 'cut'`;
      await gate.promise;
      late_queries.push(tx`insert into cut values ('late')`.catch((error) => error));
      throw new Error('the transaction has its own trouble');
    });
    await expect(lost).rejects.toMatchObject({ code: 'CONNECTION_CLOSED' });

    await pool.begin(async (tx) => {
      await tx`insert into cut values ('kept')`;
      gate.resolve();
      await new Promise((resolve) => setImmediate(resolve));
      await tx`insert into cut values ('kept too')`;
    });

    expect(await Promise.all(late_queries)).toMatchObject([{ code: 'CONNECTION_CLOSED' }]);
    expect((await pool`select step from cut`).map((row) => row.step)).toEqual(['kept', 'kept too']);
    await pool.end();
  });

  it('aborts a stalled transaction before other transactions give up on its rows', async () => {
    const pool = connect(url, { max: 1, application_name: 'still' });
    await pool`create table still (id int)`;
    await pool`insert into still values (1)`;
    const locked = Promise.withResolvers<void>();
    const gate = Promise.withResolvers<void>();
    const unchanged = pool
      .begin(async (tx) => {
        await tx`update still set id = 2`;
        locked.resolve();
        await gate.promise;
        await tx`select 1`;
      })
      .then(
        () => 'committed',
        () => 'lost',
      );
    await locked.promise;

    const changed = await sql`update still set id = 3 returning id`;
    gate.resolve();

    expect([...changed]).toEqual([{ id: 3 }]);
    expect(await unchanged).toBe('lost');
    expect([...(await pool`select id from still`)]).toEqual([{ id: 3 }]);
    await pool.end();
  });

  it('rejects a dropped connection’s pipelined statements, and returns the next query’s own rows', async () => {
    for (let round = 0; round < 20; round++) {
      const pool = connect(url, { max: 2, application_name: 'cut' });
      const work = Array.from({ length: 10 }, () =>
        pool
          .begin((tx) => Promise.all([tx`select 1 as one`, tx`select pg_sleep(0.005)`, tx`select 2 as two`]))
          .catch((error) => error),
      );
      await sql`select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and application_name = 'cut'`;
      await Promise.all(work);

      // The pool may not have noticed yet that an idle connection was cut.
      const next = () => pool`select ${round}::int as round`;
      expect([...(await next().catch(next))]).toEqual([{ round }]);
      await pool.end();
    }
  });

  it('reads int8 values and arrays as numbers', async () => {
    const [row] =
      await sql`select count(*) as n, array[1::int8, ${9_007_199_254_740_991}::int8] as list from (values (1)) as t`;

    expect(row).toEqual({ n: 1, list: [1, 9_007_199_254_740_991] });
  });

  it.each([
    ['directly', (address: string) => address],
    ['behind a pooler', throughPooler],
  ])('sets the timeouts and name for every session, %s', async (_, addressOf) => {
    const names = ['statement_timeout', 'idle_in_transaction_session_timeout', 'lock_timeout', 'application_name'];
    const fresh = connect(addressOf(url), { max: 1, application_name: 'named' });
    const rows = await fresh`select name, setting from pg_settings where name = any(${names}) order by name`;
    await fresh.end();

    expect(rows.map((row) => row.setting)).toEqual(['named', '4000', '10000', '30000']);
  });

  it('reuses the most recently used connection, lets idle ones close, and opens more on demand', async () => {
    const pool = connect(url, { max: 4, application_name: 'pool', idle_seconds: 3 });
    const rush = async () => {
      const all_here = Promise.withResolvers<void>();
      const pids: (number | undefined)[] = [];
      const come = () =>
        pool.begin(async (tx) => {
          const [row] = await tx<{ pid: number }[]>`select pg_backend_pid() as pid`;
          if (pids.push(row?.pid) === 4) all_here.resolve();
          await all_here.promise;
        });
      await Promise.all([come(), come(), come(), come()]);
      return pids;
    };
    const first = await rush();

    // Simulates light, continuous activity.
    await expect
      .poll(async () => {
        await pool`select 1`;
        return (
          await sql`select 1 from pg_stat_activity where datname = current_database() and application_name = 'pool'`
        ).length;
      })
      .toBe(1);
    const second = await rush();
    await pool.end();

    expect(new Set(first).size).toBe(4);
    expect(new Set(second).size).toBe(4);
    expect(first.filter((pid) => second.includes(pid))).toHaveLength(1);
  });

  it('passes notices to the caller, and prints none', async () => {
    const notices: string[] = [];
    const fresh = connect(url, {
      max: 1,
      application_name: 'notices',
      on_notice: (line) => notices.push(line),
    });
    await fresh`drop table if exists absent`;
    await fresh.end();

    expect(notices).toEqual(['table "absent" does not exist, skipping']);
  });

  it('receives warnings even if they are turned off for the role', async () => {
    const warnings: string[] = [];
    await sql`alter role current_user in database ${sql(database)} set client_min_messages = 'error'`;
    const fresh = connect(url, {
      max: 1,
      application_name: 'warnings',
      on_notice: (line) => warnings.push(line),
    });
    await fresh`do $$ begin raise warning 'no standby has it'; end $$`;
    await fresh.end();
    await sql`alter role current_user in database ${sql(database)} reset client_min_messages`;

    expect(warnings).toEqual(['no standby has it']);
  });

  it('fails within seconds if no server is listening', async () => {
    const missing = connect('postgres://nobody:none@127.0.0.1:1/none', { max: 1, application_name: 'nowhere' });

    await expect(missing`select 1`).rejects.toMatchObject({ code: 'ECONNREFUSED' });
    await expect(missing`select 1`).rejects.toMatchObject({ code: 'ECONNREFUSED' });
    await missing.end();
  });
});

describe('sqlState', () => {
  it('returns the code of a Postgres error, and null for any other error', async () => {
    const error: unknown = await sql`select 1 / 0`.catch((thrown: unknown) => thrown);

    expect(sqlState(error)).toBe('22012');
    expect(sqlState(new Error('other'))).toBeNull();
  });
});

describe('arrayLiteral', () => {
  it('passes arrays of unequal length through unnest unchanged', async () => {
    // Postgres text cannot contain NUL or a lone surrogate.
    const text = fc.string({ unit: fc.oneof(fc.constantFrom('"', '\\', '{', '}', ',', ' ', 'NULL', "'"), unicode()) });

    await fc.assert(
      fc.asyncProperty(fc.array(fc.array(text, { maxLength: 5 }), { maxLength: 5 }), async (lists) => {
        const rows = await sql<{ list: string[] }[]>`
          select t.list::text[] as list
          from unnest(${lists.map(arrayLiteral)}::text[]) with ordinality as t(list, place)
          order by place`;
        expect(rows.map((row) => row.list)).toEqual(lists);
      }),
      { numRuns: 100 },
    );
  });
});

function unicode() {
  return fc
    .string({ unit: 'binary', minLength: 1, maxLength: 1 })
    .filter((char) => char !== '\0' && char.isWellFormed());
}
