import type { Sql } from '@postrider/db';
import { isThere } from '../delivery/index.ts';
import { holdsQueue } from '../holds/index.ts';

const ROWS_COUNTED = 1000;

export interface ServerSettings {
  readonly version: number;
  readonly settings: readonly {
    readonly name: string;
    readonly setting: string;
    /** The source of the value, as in pg_settings. */
    readonly source: string;
  }[];
  readonly encoding: string;
}

const looked_at = ['fsync', 'full_page_writes', 'autovacuum', 'max_connections', 'synchronous_standby_names'];

export async function serverSettings(sql: Sql): Promise<ServerSettings> {
  const [settings, [server]] = await Promise.all([
    sql<ServerSettings['settings'][number][]>`
      select name, setting, source from pg_settings where name = any (${looked_at}::text[])`,
    sql<{ version: number; encoding: string }[]>`
      select current_setting('server_version_num')::int as version, current_setting('server_encoding') as encoding`,
  ]);
  return {
    version: server?.version ?? 0,
    encoding: server?.encoding ?? '',
    settings,
  };
}

export interface OpenTransaction {
  readonly pid: number;
  readonly name: string;
  readonly seconds: number;
}

/**
 * Returns the oldest transaction of other sessions on this database: vacuum cannot remove rows that an open transaction
 * may still see. Uses the clock that wrote xact_start, which tests never move.
 */
export async function oldestTransaction(sql: Sql): Promise<OpenTransaction | null> {
  const [row] = await sql<OpenTransaction[]>`
    select pid, application_name as name, extract(epoch from clock_timestamp() - xact_start)::float8 as seconds
    from pg_stat_activity
    where datname = current_database() and pid <> pg_backend_pid() and xact_start is not null
      and backend_type = 'client backend'
    order by xact_start limit 1`;
  return row ?? null;
}

export interface TransactionIdAge {
  readonly age: number;
  readonly freeze_at: number;
  readonly database: string;
}

/** Returns the transaction id age of the database where it is greatest. */
export async function transactionIdAge(sql: Sql): Promise<TransactionIdAge> {
  const [row] = await sql<TransactionIdAge[]>`
    select age(datfrozenxid)::int8 as age, current_setting('autovacuum_freeze_max_age')::int8 as freeze_at,
      datname as database
    from pg_database order by 1 desc limit 1`;
  if (!row) throw new Error('a server has databases');
  return row;
}

/** Returns the tables with rows in their default partition, with row counts up to a limit. */
export async function defaultRows(sql: Sql): Promise<{ readonly parent: string; readonly rows: number }[]> {
  const parents = await sql<{ parent: string }[]>`select parent from partitioned_tables order by parent`;
  const counts: { parent: string; rows: number }[] = [];
  for (const { parent } of parents) {
    const [row] = await sql<{ rows: number }[]>`
      select count(*)::int as rows from (select from ${sql(`${parent}_default`)} limit ${ROWS_COUNTED}) d`;
    if (row && row.rows > 0) counts.push({ parent, rows: row.rows });
  }
  return counts;
}

export interface DeadRows {
  readonly table: string;
  readonly dead: number;
  readonly live: number;
}

// Autovacuum starts at a fifth of the rows unless a table says otherwise; none of our tables sets a higher threshold.
const DEAD_SHARE = 0.5;
const MIN_DEAD_ROWS = 100_000;
const MAX_TABLES = 3;

/** Returns tables with more dead rows than autovacuum should leave, according to the server's statistics. */
export async function deadRows(sql: Sql): Promise<DeadRows[]> {
  return sql<DeadRows[]>`
    select s.relid::regclass::text as table, s.n_dead_tup as dead, s.n_live_tup as live
    from pg_stat_user_tables s
    where s.n_dead_tup > ${MIN_DEAD_ROWS} and s.n_dead_tup > ${DEAD_SHARE}::float8 * s.n_live_tup
    order by s.n_dead_tup desc limit ${MAX_TABLES}`;
}

export interface Standing {
  readonly now: Date;
  readonly workers: number;
  readonly worker_seen: Date | null;
  readonly oldest_ready_seconds: number | null;
  /** The scope and value of a hold on the queue. */
  readonly held: string | null;
}

/** Returns the live workers and the age of the queue. */
export async function standing(sql: Sql, queue: string): Promise<Standing> {
  const [row] = await sql<Standing[]>`
    select clock_now() as now,
      (select count(*)::int from delivery_workers w where ${isThere(sql)}) as workers,
      (select max(noted_at) from delivery_workers) as worker_seen,
      (select oldest_ready_seconds from queue_measures where queue = ${queue}) as oldest_ready_seconds,
      (
        select h.scope || ' ' || h.value from holds h
        where ${holdsQueue(sql, sql`${queue}::text`)} order by h.scope limit 1
      ) as held`;
  if (!row) throw new Error('a select without a condition answered nothing');
  return row;
}
