import type { Sql } from '@postrider/db';

export const STATEMENT_SETTINGS = { shared_preload_libraries: 'pg_stat_statements', 'pg_stat_statements.max': '10000' };

export interface StatementCost {
  readonly text: string;
  readonly calls: number;
  readonly total_ms: number;
}

const SHOWN_CHARACTERS = 110;
// Not `for update of` or `on conflict do update set`.
const CHANGE = /(?<!for |do |key )\b(insert into|update|delete from) ("?[a-z_][a-z0-9_."]+)/g;
const JOB_TABLE = /^"?pgboss"?\."?j[0-9a-f]{20,}"?$/;

export async function countStatements(sql: Sql): Promise<void> {
  await sql`create extension if not exists pg_stat_statements`;
  await sql`select pg_stat_statements_reset()`;
}

/** Returns the statements that took most time since countStatements, in the database of this connection. */
export async function costliestStatements(sql: Sql, count: number): Promise<StatementCost[]> {
  const rows = await sql<{ query: string; calls: number; total_ms: number }[]>`
    select query, calls::int as calls, total_exec_time::float8 as total_ms from pg_stat_statements
    where dbid = (select oid from pg_database where datname = current_database()) and query !~ 'pg_stat_statements'
    order by total_exec_time desc limit ${count}`;
  return rows.map(({ query, ...cost }) => ({ ...cost, text: shown(query) }));
}

/** Returns the tables that a statement changes; the beginning of its text if it changes none. */
function shown(query: string): string {
  const text = query.replaceAll(/\s+/g, ' ').trim();
  const changes = [...text.matchAll(CHANGE)].map(
    ([, verb = '', table = '']) => `${verb.split(' ')[0]} ${table.replace(JOB_TABLE, 'job')}`,
  );
  return changes.length === 0 ? text.slice(0, SHOWN_CHARACTERS) : [...new Set(changes)].join(', ');
}
