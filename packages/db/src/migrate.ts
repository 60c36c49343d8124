import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import type { MigrationBuilder } from 'node-pg-migrate';
import pg from 'pg';
import { pgConnection } from './address.ts';
import { indexesOf, isConcurrent, makeIndex } from './concurrent-index.ts';
import { connect } from './connect.ts';
import type { Sql } from './sql.ts';

const MIGRATIONS_DIRECTORY = fileURLToPath(new URL('../migrations', import.meta.url));
const MIGRATIONS_TABLE = 'migrations';
const CHECKSUMS_TABLE = 'migration_checksums';
const CONNECT_TIMEOUT_MS = 5000;
// While a migration waits for a lock, every later statement on the same table queues behind it. The migration therefore
// gives up early and retries often.
const LOCK_TIMEOUT_MS = 500;
const LOCK_TRIES = 100;
const LOCK_PAUSE_MS = 1000;
const TURN_PAUSE_MS = 200;
const KEEP_ALIVE_MS = 15_000;
const ANSWER_MS = 60_000;
const MAX_STEP_MS = 6 * 3_600_000;
const LOCK_NOT_AVAILABLE = '55P03';

/**
 * Runs the pending migrations, each file in its own transaction, and returns their names. Concurrent starts queue on an
 * advisory lock, and all but the first then find nothing to do. A database that this release cannot upgrade is left
 * unchanged.
 */
export async function migrate(
  url: string,
  log?: (line: string) => void,
  directory: string = MIGRATIONS_DIRECTORY,
): Promise<readonly string[]> {
  const client = new pg.Client({
    ...pgConnection(url),
    application_name: 'postrider-migrate',
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    // A migration may take hours; keep-alive probes detect a lost peer.
    keepAlive: true,
    keepAliveInitialDelayMillis: KEEP_ALIVE_MS,
    query_timeout: MAX_STEP_MS,
  });
  // Without this handler, a socket error between two queries would crash the process. The next query reports it.
  client.on('error', () => undefined);
  await client.connect();
  const sql = connect(url, { max: 1, application_name: 'postrider-migrate', answer_ms: ANSWER_MS });
  try {
    await client.query('set statement_timeout = 0');
    await client.query(`set lock_timeout = ${LOCK_TIMEOUT_MS}`);
    await awaitTurn(client);
    await requireUpgradable(sql, directory);
    await sql`create table if not exists ${sql(CHECKSUMS_TABLE)} (name text primary key, checksum text not null)`;
    const pending = await pendingMigrations(sql, directory);
    for (let attempt = 1; ; attempt++) {
      try {
        await runPending(client, directory, log);
        break;
      } catch (error) {
        // The failed transaction is still open, and would hold its locks during the pause.
        await client.query('rollback');
        if (attempt === LOCK_TRIES || !(error instanceof pg.DatabaseError && error.code === LOCK_NOT_AVAILABLE))
          throw error;
        log?.('A lock could not be acquired in time. Retrying the migration.');
        await pause(LOCK_PAUSE_MS);
      }
    }
    await noteChecksums(sql, directory);
    return pending;
  } finally {
    await sql.end();
    await client.end();
  }
}

/**
 * Allows one process at a time to migrate. The lock is polled, because creating an index concurrently would wait for a
 * statement that waits for the lock.
 */
async function awaitTurn(client: pg.Client): Promise<void> {
  const { PG_MIGRATE_LOCK_ID } = await import('node-pg-migrate');
  for (;;) {
    // The lock id is node-pg-migrate's, so that its own CLI waits too. The runner then takes the same lock again
    // immediately.
    const { rows } = await client.query<{ taken: boolean }>('select pg_try_advisory_lock($1) as taken', [
      PG_MIGRATE_LOCK_ID,
    ]);
    if (rows[0]?.taken) return;
    await pause(TURN_PAUSE_MS);
  }
}

async function runPending(client: pg.Client, directory: string, log?: (line: string) => void): Promise<void> {
  // Loaded only if the schema has to change.
  const { runner } = await import('node-pg-migrate');
  const loader = async (paths: string[]) =>
    Promise.all(
      paths.map(async (path) => ({
        id: path,
        filePaths: [path],
        actions: actionsOf(client, await readFile(path, 'utf8')),
      })),
    );
  await runner({
    dbClient: client,
    dir: directory,
    ignorePattern: String.raw`(?!.*\.sql$).*`,
    migrationsTable: MIGRATIONS_TABLE,
    direction: 'up',
    advisoryLockMode: 'wait',
    migrationLoaderStrategies: [{ extensions: ['.sql'], loader }],
    log: (line) => log?.(line),
  });
}

function actionsOf(client: pg.Client, text: string) {
  if (!isConcurrent(text)) return { up: (builder: MigrationBuilder) => builder.sql(text), down: false as const };
  const indexes = indexesOf(text);
  return {
    async up(builder: MigrationBuilder) {
      builder.noTransaction();
      for (const index of indexes) await makeIndex(client, index);
    },
    down: false as const,
  };
}

/**
 * Stores the checksums of the migrations that have run. A run that was stopped before this step is completed by the
 * next one.
 */
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

const UPGRADE_ADVICE =
  'It was not changed. Start with an empty database (another DATA_DIR or DATABASE_URL), or run the release that created this one.';

/**
 * Throws, with instructions, if the database was created by anything other than the migrations of this or a later
 * release.
 */
export async function requireUpgradable(sql: Sql, directory: string = MIGRATIONS_DIRECTORY): Promise<void> {
  if (!(await isThere(sql, MIGRATIONS_TABLE))) return;
  const rows = await sql<{ name: string }[]>`select name from ${sql(MIGRATIONS_TABLE)}`;
  if (rows.length === 0) return;
  const known = await checksumsIn(directory);
  const [baseline] = [...known.keys()].sort();
  if (!(await isThere(sql, CHECKSUMS_TABLE)) || !rows.some(({ name }) => name === baseline))
    throw new Error(`This database is too old to upgrade. ${UPGRADE_ADVICE}`);
  const ran = await sql<{ name: string; checksum: string }[]>`select name, checksum from ${sql(CHECKSUMS_TABLE)}`;
  const other = ran.find(({ name, checksum }) => known.has(name) && known.get(name) !== checksum);
  if (other) throw new Error(`This database ran a different version of migration ${other.name}. ${UPGRADE_ADVICE}`);
}

/** Returns whether this role may change the schema: it owns the existing schema, or may create one. */
export async function mayMigrate(sql: Sql): Promise<boolean> {
  const [row] = await sql<{ may: boolean }[]>`
    select coalesce(
      (select pg_has_role(current_user, c.relowner, 'usage') from pg_class c where c.oid = to_regclass(${MIGRATIONS_TABLE})),
      has_schema_privilege(current_user, 'public', 'create')
    ) as may`;
  return row?.may ?? false;
}

/** Returns the last migration that has run, which is the version of the schema; null before the first migration. */
export async function schemaVersion(sql: Sql): Promise<string | null> {
  if (!(await isThere(sql, MIGRATIONS_TABLE))) return null;
  const [row] = await sql<{ name: string }[]>`select name from ${sql(MIGRATIONS_TABLE)} order by name desc limit 1`;
  return row?.name ?? null;
}

/** Returns the migrations of this release that the database lacks. The database may have later migrations as well. */
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
