import type { Sql } from './sql.ts';

/** Returns whether the database accepts writes: it is not a standby and has not been made read-only. */
export async function writability(sql: Sql): Promise<boolean> {
  const [row] = await sql<{ writable: boolean }[]>`
    select not pg_is_in_recovery() and current_setting('transaction_read_only') = 'off' as writable`;
  return row?.writable === true;
}
