import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import pg from 'pg';
import { connect } from './connect.ts';
import type { Sql } from './sql.ts';

const MIGRATIONS_DIRECTORY = fileURLToPath(new URL('../migrations', import.meta.url));
const MIGRATIONS_TABLE = 'migrations';
const CHECKSUMS_TABLE = 'migration_checksums';
const CONNECT_TIMEOUT_MS = 5000;
const LOCK_TIMEOUT_MS = 10_000;

/**
 * Runs the pending migrations, each file in its own transaction, and returns their names. Concurrent starts queue on an
 * advisory lock; all but the first then find nothing to do. A database that this release cannot upgrade is left as it is.
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
  const sql = connect(url, { max: 1, application_name: 'postrider-migrate' });
  try {
    // Loaded only when the schema is changed. The lock id is node-pg-migrate's, so that its own CLI waits too.
    const { PG_MIGRATE_LOCK_ID, runner } = await import('node-pg-migrate');
    // lock_timeout also limits the wait for an advisory lock, and the process ahead may migrate for longer than that:
    // wait for the lock without a timeout first. The runner then takes the same lock again immediately.
    await client.query('set statement_timeout = 0');
    await client.query('set lock_timeout = 0');
    await client.query('select pg_advisory_lock($1)', [PG_MIGRATE_LOCK_ID]);
    await client.query(`set lock_timeout = ${LOCK_TIMEOUT_MS}`);
    await requireUpgradable(sql, directory);
    await sql`create table if not exists ${sql(CHECKSUMS_TABLE)} (name text primary key, checksum text not null)`;
    const ran = await runner({
      dbClient: client,
      dir: directory,
      ignorePattern: String.raw`(?!.*\.sql$).*`,
      migrationsTable: MIGRATIONS_TABLE,
      direction: 'up',
      advisoryLockMode: 'wait',
      log: (line) => log?.(line),
    });
    const names = ran.map((migration) => migration.name);
    await noteChecksums(sql, directory);
    return names;
  } finally {
    await sql.end();
    await client.end();
  }
}

/** Checksums of the migrations that have run. One that was stopped before it noted them is completed by the next. */
async function noteChecksums(sql: Sql, directory: string): Promise<void> {
  const checksums = await checksumsIn(directory);
  const rows = await sql<{ name: string }[]>`select name from ${sql(MIGRATIONS_TABLE)}`;
  for (const { name } of rows) {
    const checksum = checksums.get(name);
    if (checksum === undefined) continue;
    await sql`
      insert into ${sql(CHECKSUMS_TABLE)} (name, checksum) values (${name}, ${checksum}) on conflict (name) do nothing`;
  }
}

async function checksumsIn(directory: string): Promise<Map<string, string>> {
  const names = await namesIn(directory);
  const texts = await Promise.all(names.map((name) => readFile(join(directory, `${name}.sql`))));
  return new Map(
    names.map((name, index) => [
      name,
      createHash('sha256')
        .update(texts[index] ?? '')
        .digest('hex'),
    ]),
  );
}

async function namesIn(directory: string): Promise<string[]> {
  const files = await readdir(directory);
  return files.filter((file) => file.endsWith('.sql')).map((file) => file.slice(0, -'.sql'.length));
}

async function isThere(sql: Sql, table: string): Promise<boolean> {
  const [row] = await sql<{ present: boolean }[]>`select to_regclass(${table}) is not null as present`;
  return row?.present ?? false;
}

const WAY_OUT =
  'It was left as it is. Start with an empty database (another DATA_DIR, or another DATABASE_URL), or run the release that made this one.';

/** Throws, with what to do, if the database was made by something else than the migrations of this or a later release. */
export async function requireUpgradable(sql: Sql, directory: string = MIGRATIONS_DIRECTORY): Promise<void> {
  if (!(await isThere(sql, MIGRATIONS_TABLE))) return;
  const rows = await sql<{ name: string }[]>`select name from ${sql(MIGRATIONS_TABLE)}`;
  if (rows.length === 0) return;
  const known = await checksumsIn(directory);
  const [baseline] = [...known.keys()].sort();
  if (!(await isThere(sql, CHECKSUMS_TABLE)) || !rows.some(({ name }) => name === baseline))
    throw new Error(`This database is older than the first schema that can be upgraded. ${WAY_OUT}`);
  const ran = await sql<{ name: string; checksum: string }[]>`select name, checksum from ${sql(CHECKSUMS_TABLE)}`;
  const other = ran.find(({ name, checksum }) => known.has(name) && known.get(name) !== checksum);
  if (other) throw new Error(`This database ran another version of the migration ${other.name}. ${WAY_OUT}`);
}

/** Whether this role may change the schema: it owns what is there, or may begin it. */
export async function mayMigrate(sql: Sql): Promise<boolean> {
  const [row] = await sql<{ may: boolean }[]>`
    select coalesce(
      (select pg_has_role(current_user, c.relowner, 'usage') from pg_class c where c.oid = to_regclass(${MIGRATIONS_TABLE})),
      has_schema_privilege(current_user, 'public', 'create')
    ) as may`;
  return row?.may ?? false;
}

/** The last migration that has run: the version of the schema. Null before the first. */
export async function schemaVersion(sql: Sql): Promise<string | null> {
  if (!(await isThere(sql, MIGRATIONS_TABLE))) return null;
  const [row] = await sql<{ name: string }[]>`select name from ${sql(MIGRATIONS_TABLE)} order by name desc limit 1`;
  return row?.name ?? null;
}

/** The migrations of this release that the database lacks; later ones in the database are fine. */
export async function pendingMigrations(
  sql: Sql,
  directory: string = MIGRATIONS_DIRECTORY,
): Promise<readonly string[]> {
  const names = await namesIn(directory);
  if (!(await isThere(sql, MIGRATIONS_TABLE))) return names.sort();
  const ran = await sql<{ name: string }[]>`select name from ${sql(MIGRATIONS_TABLE)}`;
  const done = new Set(ran.map((row) => row.name));
  return names.filter((name) => !done.has(name)).sort();
}
