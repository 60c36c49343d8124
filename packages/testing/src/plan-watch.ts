import { connect, type Sql } from '@postrider/db';

/** The states of the tables when the first plans for them are made. */
export const emptyTables = ['vacuumed', 'never analysed'] as const;

export interface PlanWatch {
  /**
   * A single connection: a prepared statement keeps its plan, and the first plans are made while the tables are empty.
   */
  readonly sql: Sql;
  /** Puts the empty tables into this state; autovacuum is off, so the planner's statistics stay as they are. */
  keepEmpty(state: (typeof emptyTables)[number]): Promise<void>;
  /** Returns the number of rows and index entries read from the tables. */
  rowsRead(): Promise<number>;
  stop(): Promise<void>;
}

/** Counts the reads of some tables, each including its partitions. */
export function watchPlans(database_url: string, tables: readonly string[]): PlanWatch {
  const sql = connect(database_url, { max: 1, application_name: 'plans-test' });
  const watchedTables = () => sql`
    select c.oid from pg_class c
    where c.relkind = 'r' and (c.oid = any (${[...tables]}::text[]::regclass[])
      or exists (select from pg_inherits i where i.inhrelid = c.oid and i.inhparent = any (${[...tables]}::text[]::regclass[])))`;
  return {
    sql,
    async keepEmpty(state) {
      const names = await sql<{ name: string }[]>`select w.oid::regclass::text as name from (${watchedTables()}) w`;
      for (const { name } of names) {
        await sql`alter table ${sql(name)} set (autovacuum_enabled = false)`;
        if (state === 'vacuumed') await sql`vacuum analyze ${sql(name)}`;
      }
    },
    async rowsRead() {
      await sql`select pg_stat_force_next_flush()`;
      const [row] = await sql<{ count: number }[]>`
        with watched as materialized (${watchedTables()})
        select (
          (select coalesce(sum(idx_tup_read), 0) from pg_stat_user_indexes where relid in (select oid from watched))
          + (select coalesce(sum(seq_tup_read), 0) from pg_stat_user_tables where relid in (select oid from watched))
        )::int8 as count`;
      return row?.count ?? 0;
    },
    stop: () => sql.end(),
  };
}
