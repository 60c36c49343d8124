import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { connect } from './connect.ts';
import type { Sql } from './sql.ts';

// At least one test for each hunk of patches/postgres+3.4.9.patch. General pool tests are in connect.test.ts.

const url = inject('postgres_url');
let sql: Sql;

beforeAll(async () => {
  sql = connect(url, { max: 1, application_name: 'driver-test' });
});

afterAll(async () => {
  await sql.end();
});

const settled = (work: readonly Promise<unknown>[]) =>
  Promise.all(work.map((one) => one.catch((error: unknown) => error)));
const closed = { code: 'CONNECTION_CLOSED' };

async function cut(application_name: string): Promise<void> {
  await sql`select pg_terminate_backend(pid) from pg_stat_activity where application_name = ${application_name}`;
}

/** Runs a scenario of wired-driver.ts and returns its output. */
async function wired(scenario: string): Promise<unknown> {
  const program = fileURLToPath(new URL('../test/wired-driver.ts', import.meta.url));
  const { stdout } = await promisify(execFile)(process.execPath, [program, scenario, url]);
  return JSON.parse(stdout);
}

describe('a transaction', () => {
  it.each([1, 2])('has exclusive use of its connection if BEGIN fills the pipeline in a pool of %i', async (max) => {
    await sql`drop table if exists boundary`;
    await sql`create table boundary (step text)`;
    const pool = connect(url, { max, application_name: 'boundary' });
    await Promise.all(Array.from({ length: max }, () => pool`select pg_sleep(0.05)`));
    const filling = settled(Array.from({ length: 100 * max }, () => pool`select pg_sleep(0.001)`));

    const undone = pool.begin(async (tx) => {
      await tx`insert into boundary values ('undone')`;
      throw new Error('roll back');
    });
    const outside = settled([pool`insert into boundary values ('outside')`]);

    await expect(undone).rejects.toThrow('roll back');
    await Promise.all([filling, outside]);
    expect((await sql`select step from boundary`).map((row) => row.step)).toEqual(['outside']);
    await pool.end();
  });

  it('has exclusive use of its connection if the socket applies backpressure at BEGIN', async () => {
    expect(await wired('push back')).toEqual({ first: false, later: true });
  });

  it('keeps its connection if the socket drains between two statements', async () => {
    expect(await wired('drain')).toEqual(['inside', 'outside']);
  });

  it('rejects all of its waiting statements if the connection is lost', async () => {
    const pool = connect(url, { max: 1, application_name: 'waiting' });
    let statements: Promise<unknown> = Promise.resolve();
    const lost = pool.begin(async (tx) => {
      await tx`select 1`;
      // More than the driver sends at a time.
      statements = settled(Array.from({ length: 250 }, () => tx`select pg_sleep(20)`));
      await cut('waiting');
      await statements;
    });

    await expect(lost).rejects.toMatchObject(closed);
    expect(await statements).toEqual(Array.from({ length: 250 }, () => expect.any(Error)));
    await pool.end();
  });
});

describe('a lost connection', () => {
  it('rejects statements written to it afterward', async () => {
    const pool = connect(url, { max: 1, application_name: 'written-late' });
    const reserved = await pool.reserve();
    await reserved`select 1`;
    const running = settled([reserved`select pg_sleep(5)`]);
    await cut('written-late');
    await running;

    expect(await settled([reserved`select 1`])).toMatchObject([closed]);

    expect([...(await pool`select 1 as one`)]).toEqual([{ one: 1 }]);
    await pool.end();
  });

  it('leaves no unsent bytes for the next connection', async () => {
    expect(await wired('unsent')).toEqual([['CONNECTION_CLOSED'], [{ word: 'next' }]]);
  });

  it('accepts no further queries once its socket has failed', async () => {
    expect(await wired('reset')).toEqual([['ECONNRESET'], [{ word: 'next' }]]);
  });

  it('leaves neither its query nor its error for the next connection', async () => {
    const pool = connect(url, { max: 1, application_name: 'left-over' });
    await pool`select 1`;
    const lost = settled([pool`select pg_sleep(20)`]);
    await cut('left-over');
    await lost;

    expect([...(await pool`select 'next' as word`)]).toEqual([{ word: 'next' }]);
    await pool.end();
  });
});

it('a failing query for array types rejects the first query, without an additional unhandled rejection', async () => {
  expect(await wired('array types')).toEqual([['57014'], [{ two: 2 }]]);
});

it('a query holds no closure of its own, so a young-generation collection can free it', async () => {
  const functionsOf = (query: object) => Object.values(query).filter((value) => typeof value === 'function');
  const first = sql`select 1`;
  const second = sql`select 2`;

  expect(functionsOf(first)).toEqual(functionsOf(second));
  await Promise.all([first, second]);
});
