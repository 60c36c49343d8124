import { pipeline } from 'node:stream/promises';
import pg from 'pg';
import copyStreams from 'pg-copy-streams';
import { pgConnection } from './address.ts';

/** A table with what was copied of it. */
export interface MovedTable {
  readonly name: string;
  readonly rows: number;
  /** A hash over the text of all rows, equal in both databases. */
  readonly hash: string;
}

/** Why the data cannot be moved. Nothing has been changed. */
export class MoveError extends Error {
  override readonly name = 'MoveError';
}

interface Table {
  readonly name: string;
  /** Quoted, with its schema. */
  readonly quoted: string;
  /** Without generated columns. */
  readonly columns: string;
  /** The tables that its foreign keys refer to. */
  readonly needs: readonly string[];
}

// Which migrations a database ran is its own.
const MIGRATIONS = ['public.migrations', 'public.migration_checksums'];
const CONNECT_MS = 10_000;

/**
 * Copies the data of one database into another of the same schema, which has no workspace yet, in one transaction, and
 * compares every table. Both must be stopped. The source is only read. Tables that an installation fills keep their
 * rows, and get those that only the source has.
 */
export async function moveData(
  from: string,
  to: string,
  installed: readonly string[],
  on_table: (name: string) => void = () => undefined,
): Promise<MovedTable[]> {
  const source = await open(from);
  const target = await open(to).catch(async (error: unknown) => {
    await source.end();
    throw error;
  });
  try {
    await requireMovable(source, target);
    const tables = inOrder(await tablesOf(source, [...MIGRATIONS, ...installed]));
    // One snapshot for the copy and the hashes.
    await source.query('begin isolation level repeatable read, read only');
    await target.query('begin');
    await createPartitions(source, target);
    await setTriggers(target, tables, 'disable');
    // Migrations fill some of them.
    await target.query(`truncate ${tables.map(({ quoted }) => quoted).join(', ')}`);
    for (const name of installed) await addMissingRows(source, target, name);
    for (const { quoted, columns, name } of tables) {
      on_table(name);
      await pipeline(
        source.query(copyStreams.to(`copy (select ${columns} from ${quoted}) to stdout`)),
        target.query(copyStreams.from(`copy ${quoted} (${columns}) from stdin`)),
      );
    }
    await continueSequences(target);
    const moved: MovedTable[] = [];
    for (const table of tables) moved.push(await comparedTable(source, target, table));
    await setTriggers(target, tables, 'enable');
    await target.query('commit');
    return moved;
  } finally {
    await Promise.all([source.end(), target.end()]);
  }
}

async function open(address: string): Promise<pg.Client> {
  const client = new pg.Client({
    ...pgConnection(address),
    application_name: 'postrider-move',
    connectionTimeoutMillis: CONNECT_MS,
    keepAlive: true,
  });
  // Without this handler, a lost connection would crash the process. The next query reports it.
  client.on('error', () => undefined);
  await client.connect();
  // The same text in both databases, whatever their own settings are. A table may take longer than any timeout.
  await client.query(`
    set timezone = 'UTC'; set datestyle = 'ISO'; set extra_float_digits = 1; set bytea_output = 'hex';
    set statement_timeout = 0; set idle_in_transaction_session_timeout = 0`);
  return client;
}

async function rowsOf<T extends object>(
  client: pg.Client,
  text: string,
  values: readonly unknown[] = [],
): Promise<T[]> {
  const { rows } = await client.query<T>(text, [...values]);
  return rows;
}

async function requireMovable(source: pg.Client, target: pg.Client): Promise<void> {
  const schemaOf = async (client: pg.Client) =>
    (await rowsOf<{ name: string }>(client, 'select name from migrations order by name'))
      .map(({ name }) => name)
      .join();
  if ((await schemaOf(source)) !== (await schemaOf(target)))
    throw new MoveError('The two databases are of different releases. Migrate both to this one.');
  for (const [name, client] of [
    ['The source', source],
    ['The target', target],
  ] as const) {
    const [busy] = await rowsOf<{ application_name: string }>(
      client,
      `
      select application_name from pg_stat_activity
      where datname = current_database() and pid <> pg_backend_pid() and application_name like 'postrider%'`,
    );
    if (busy) throw new MoveError(`${name} is in use by ${busy.application_name}. Stop every process of it first.`);
  }
  const [row] = await rowsOf<{ used: boolean }>(
    target,
    'select exists (select from api_keys) or exists (select from users) or exists (select from messages) as used',
  );
  if (row?.used) throw new MoveError('The target already has data. Move into a new database.');
}

/** Returns the tables whose rows a restart needs; a partitioned table stands for its partitions. */
async function tablesOf(client: pg.Client, left_out: readonly string[]): Promise<Table[]> {
  const rows = await rowsOf<Table>(
    client,
    `
    select n.nspname || '.' || c.relname as name, format('%I.%I', n.nspname, c.relname) as quoted,
      (select string_agg(format('%I', a.attname), ', ' order by a.attnum) from pg_attribute a
        where a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped and a.attgenerated = '') as columns,
      array(
        select distinct fn.nspname || '.' || f.relname
        from pg_constraint k join pg_class f on f.oid = k.confrelid join pg_namespace fn on fn.oid = f.relnamespace
        where k.conrelid = c.oid and k.contype = 'f' and f.oid <> c.oid
      ) as needs
    from pg_class c join pg_namespace n on n.oid = c.relnamespace
    where n.nspname in ('public', 'pgboss') and c.relkind in ('r', 'p') and not c.relispartition
      and c.relpersistence = 'p'
    order by 1`,
  );
  return rows.filter(({ name }) => !left_out.includes(name));
}

/** Returns the tables with each after those that it refers to. */
function inOrder(tables: readonly Table[]): Table[] {
  const ordered = new Set<Table>();
  const add = (table: Table) => {
    for (const name of table.needs) {
      const needed = tables.find((one) => one.name === name);
      if (needed && !ordered.has(needed)) add(needed);
    }
    ordered.add(table);
  };
  for (const table of tables) add(table);
  return [...ordered];
}

/** Creates the partitions that the source has and the target lacks. */
async function createPartitions(source: pg.Client, target: pg.Client): Promise<void> {
  const partitions = await rowsOf<{ child: string; parent: string; bound: string; unlogged: boolean }>(
    source,
    `
    select c.relname as child, p.relname as parent, pg_get_expr(c.relpartbound, c.oid) as bound,
      c.relpersistence = 'u' as unlogged
    from pg_inherits i join pg_class c on c.oid = i.inhrelid join pg_class p on p.oid = i.inhparent
    join pg_namespace n on n.oid = c.relnamespace
    where n.nspname = 'public' and c.relkind = 'r'
    order by c.relname`,
  );
  for (const { child, parent, bound, unlogged } of partitions) {
    const [known] = await rowsOf<{ there: boolean }>(target, 'select to_regclass($1) is not null as there', [child]);
    if (known?.there) continue;
    const [timed] = await rowsOf<{ period: string }>(
      target,
      'select period from partitioned_tables where parent = $1',
      [parent],
    );
    if (timed && bound !== 'DEFAULT')
      await target.query('select add_partition($1, $2, partition_start($1, $2, $3))', [parent, timed.period, child]);
    else await target.query(`create ${unlogged ? 'unlogged ' : ''}table "${child}" partition of "${parent}" ${bound}`);
  }
}

/** Lets no trigger act on what is copied, and each again afterwards. */
async function setTriggers(client: pg.Client, tables: readonly Table[], state: 'enable' | 'disable'): Promise<void> {
  for (const { quoted } of tables) await client.query(`alter table ${quoted} ${state} trigger user`);
}

/** Lets identity columns and sequences go on after the highest copied value. */
async function continueSequences(client: pg.Client): Promise<void> {
  const columns = await rowsOf<{ sequence: string; quoted: string; column: string }>(
    client,
    `
    select pg_get_serial_sequence(format('%I.%I', n.nspname, c.relname), a.attname) as sequence,
      format('%I.%I', n.nspname, c.relname) as quoted, format('%I', a.attname) as column
    from pg_class c join pg_namespace n on n.oid = c.relnamespace join pg_attribute a on a.attrelid = c.oid
    where n.nspname in ('public', 'pgboss') and c.relkind in ('r', 'p') and not c.relispartition and a.attnum > 0
      and not a.attisdropped
      and pg_get_serial_sequence(format('%I.%I', n.nspname, c.relname), a.attname) is not null`,
  );
  for (const { sequence, quoted, column } of columns)
    await client.query(`select setval('${sequence}', coalesce(max(${column}), 0) + 1, false) from ${quoted}`);
}

async function addMissingRows(source: pg.Client, target: pg.Client, name: string): Promise<void> {
  await target.query(`create temporary table missing (like ${name} including generated) on commit drop`);
  await pipeline(
    source.query(copyStreams.to(`copy ${name} to stdout`)),
    target.query(copyStreams.from('copy missing from stdin')),
  );
  await target.query(`insert into ${name} select * from missing on conflict do nothing`);
  await target.query('drop table missing');
}

async function comparedTable(source: pg.Client, target: pg.Client, table: Table): Promise<MovedTable> {
  const [before, after] = [await summaryOf(source, table), await summaryOf(target, table)];
  if (before.rows === after.rows && before.hash === after.hash) return after;
  throw new MoveError(`${table.name} differs after the copy: ${before.rows} and ${after.rows} rows.`);
}

async function summaryOf(client: pg.Client, { name, quoted, columns }: Table): Promise<MovedTable> {
  const [row] = await rowsOf<{ rows: string; hash: string }>(
    client,
    `
    select count(*)::text as rows, coalesce(sum(hashtextextended(line, 0)::numeric), 0)::text as hash
    from (select row(${columns})::text as line from ${quoted}) as lines`,
  );
  return { name, rows: Number(row?.rows ?? 0), hash: row?.hash ?? '' };
}
