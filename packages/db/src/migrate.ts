import { readdir } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import pg from 'pg';
import type { Sql } from './sql.ts';

const MIGRATIONS_DIRECTORY = fileURLToPath(new URL('../migrations', import.meta.url));
const MIGRATIONS_TABLE = 'migrations';
const CONNECT_TIMEOUT_MS = 5000;
const LOCK_TIMEOUT_MS = 10_000;

/**
 * Runs the pending migrations, each file in its own transaction, and returns their names. Concurrent starts queue on an
 * advisory lock; all but the first then find nothing to do.
 */
export async function migrate(
  url: string,
  log?: (line: string) => void,
  directory: string = MIGRATIONS_DIRECTORY,
): Promise<readonly string[]> {
  const client = new pg.Client({
    connectionString: url,
    application_name: 'postrider-migrate',
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    keepAlive: true,
  });
  // A socket error between two queries would otherwise crash the process; the next query reports it.
  client.on('error', () => undefined);
  await client.connect();
  try {
    // Loaded only when the schema is changed. The lock id is node-pg-migrate's, so that its own CLI waits too.
    const { PG_MIGRATE_LOCK_ID, runner } = await import('node-pg-migrate');
    // lock_timeout also limits the wait for an advisory lock, and the process ahead may migrate for longer than that:
    // wait for the lock without a timeout first. The runner then takes the same lock again immediately.
    await client.query('set statement_timeout = 0');
    await client.query('set lock_timeout = 0');
    await client.query('select pg_advisory_lock($1)', [PG_MIGRATE_LOCK_ID]);
    await client.query(`set lock_timeout = ${LOCK_TIMEOUT_MS}`);
    const ran = await runner({
      dbClient: client,
      dir: directory,
      ignorePattern: String.raw`(?!.*\.sql$).*`,
      migrationsTable: MIGRATIONS_TABLE,
      direction: 'up',
      advisoryLockMode: 'wait',
      log: (line) => log?.(line),
    });
    return ran.map((migration) => migration.name);
  } finally {
    await client.end();
  }
}

/** The migrations of this release that the database lacks; later ones in the database are fine. */
export async function pendingMigrations(
  sql: Sql,
  directory: string = MIGRATIONS_DIRECTORY,
): Promise<readonly string[]> {
  const files = await readdir(directory);
  const names = files.filter((file) => file.endsWith('.sql')).map((file) => file.slice(0, -'.sql'.length));
  const [table] = await sql<{ present: boolean }[]>`select to_regclass(${MIGRATIONS_TABLE}) is not null as present`;
  if (!table?.present) return names.sort();
  const ran = await sql<{ name: string }[]>`select name from ${sql(MIGRATIONS_TABLE)}`;
  const done = new Set(ran.map((row) => row.name));
  return names.filter((name) => !done.has(name)).sort();
}
