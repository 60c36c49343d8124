import type { Sql } from '@postrider/db';
import { INSTANCE } from '../operation/access.ts';

export interface TableSize {
  readonly name: string;
  readonly bytes: number;
  readonly index_bytes: number;
  readonly rows: number | null;
  readonly partitions: number;
}

/**
 * Returns the file sizes of every table, largest first; tables that are not Postrider's are combined under their schema
 * name. The row counts of a table that was never vacuumed or analyzed are unknown.
 */
export async function tableSizes(
  sql: Sql,
): Promise<{ readonly tables: readonly TableSize[]; readonly database_bytes: number }> {
  const [tables, [database]] = await Promise.all([
    sql<TableSize[]>`
      select case when n.nspname = 'public' then root.relname else n.nspname end as name,
        sum(pg_total_relation_size(c.oid))::float8 as bytes, sum(pg_indexes_size(c.oid))::float8 as index_bytes,
        case when bool_or(c.reltuples >= 0) then sum(greatest(c.reltuples, 0)) end::float8 as rows,
        (count(*) filter (where c.relispartition))::int as partitions
      from pg_class c
      join pg_class root on root.oid = coalesce(pg_partition_root(c.oid), c.oid)
      join pg_namespace n on n.oid = root.relnamespace
      where c.relkind = 'r' and c.relpersistence <> 't' and left(n.nspname, 3) <> 'pg_' and n.nspname <> 'information_schema'
      group by 1 order by 2 desc, 1`,
    sql<{ bytes: number }[]>`select pg_database_size(current_database())::float8 as bytes`,
  ]);
  return { tables, database_bytes: database?.bytes ?? 0 };
}

/** Returns the recipients accepted per day, over the last seven days. Served by the primary key. */
export async function recipientRate(sql: Sql): Promise<number> {
  const [row] = await sql<{ per_day: number }[]>`
    select coalesce(sum(accepted), 0)::float8 / 7 as per_day from stat_hours
    where workspace_id = ${INSTANCE} and dimension = 'none' and key = '' and at > clock_now() - interval '7 days'`;
  return row?.per_day ?? 0;
}
