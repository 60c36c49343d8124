import { randomBytes } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { connect, type Sql, sqlState } from '@postrider/db';
import { inject } from 'vitest';

export const TEMPLATE = 'template_postrider';
// An arbitrary number shared by all workers of a run.
const CLONE_LOCK = 712_448_031;
const OBJECT_IN_USE = '55006';
const CLONE_TRIES = 100;
const CLONE_PAUSE_MS = 50;

export interface TestDatabase {
  readonly url: string;
  drop(): Promise<void>;
}

export function databaseUrl(server_url: string, name: string): string {
  const url = new URL(server_url);
  url.pathname = `/${name}`;
  return url.href;
}

/** Creates a private migrated database, cloned from the template. */
export async function createDatabase(server_url: string = inject('postgres_url')): Promise<TestDatabase> {
  const name = `test_${process.pid}_${randomBytes(6).toString('hex')}`;
  const server = connect(server_url, { max: 1, application_name: 'postrider-test-clone' });
  try {
    await server`select pg_advisory_lock(${CLONE_LOCK})`;
    const strategy = (await copiesFilesCheaply(server)) ? server`strategy file_copy` : server``;
    for (let attempt = 1; ; attempt++) {
      try {
        await server`create database ${server(name)} template ${server(TEMPLATE)} ${strategy}`;
        break;
      } catch (error) {
        // A connection to the template that was just closed may still be open on the server.
        if (sqlState(error) !== OBJECT_IN_USE || attempt === CLONE_TRIES) throw error;
        await pause(CLONE_PAUSE_MS);
      }
    }
  } finally {
    // Ending the session releases the lock.
    await server.end();
  }
  return databaseNamed(server_url, name);
}

/** Creates a private database from a plain SQL dump, with the dump's schema instead of the template's. */
export async function loadDatabase(
  statements: string,
  server_url: string = inject('postgres_url'),
): Promise<TestDatabase> {
  const name = `test_${process.pid}_${randomBytes(6).toString('hex')}`;
  const server = connect(server_url, { max: 1, application_name: 'postrider-test-load' });
  await server`create database ${server(name)}`;
  await server.end();
  const database = databaseNamed(server_url, name);
  // The dump sets session parameters, so it needs a connection of its own.
  const sql = connect(database.url, { max: 1, application_name: 'postrider-test-load' });
  await sql.unsafe(statements);
  await sql.end();
  return database;
}

function databaseNamed(server_url: string, name: string): TestDatabase {
  return {
    url: databaseUrl(server_url, name),
    async drop() {
      const dropper = connect(server_url, { max: 1, application_name: 'postrider-test-drop' });
      try {
        await dropper`drop database if exists ${dropper(name)} with (force)`;
      } finally {
        await dropper.end();
      }
    },
  };
}

/**
 * Returns whether file_copy is cheaper. Without durability, file_copy takes a third of wal_log's CPU time; with
 * durability, its two checkpoints cost more.
 */
async function copiesFilesCheaply(server: Sql): Promise<boolean> {
  const [row] = await server<{ copies: boolean }[]>`
    select current_setting('fsync') = 'off' and current_setting('server_version_num')::int >= 150000 as copies`;
  return row?.copies ?? false;
}

/** Lets a test move the clocks of the product and of pg-boss; both functions keep their signatures. */
export async function installTestClock(sql: Sql): Promise<void> {
  await sql`create table public.test_clock (
    only_row boolean primary key default true check (only_row),
    frozen_at timestamptz,
    jump interval not null default '0'
  )`;
  await sql`insert into public.test_clock default values`;
  await sql`create or replace function public.clock_now() returns timestamptz language sql stable as
    $$ select coalesce(frozen_at, pg_catalog.now()) + jump from public.test_clock $$`;
  await sql`create or replace function pgboss.job_now() returns timestamptz language sql stable as
    $$ select public.clock_now() $$`;
}
