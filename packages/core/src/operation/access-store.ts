import type { Sql, Tx } from '@postrider/db';
import { idIn } from '../paging/keyset-store.ts';
import type { KeyMode } from './secrets.ts';

/** Filters message ids to one mode. */
export async function modeFilter(
  sql: Sql,
  workspace_id: string,
  mode: KeyMode,
  ids: readonly string[],
): Promise<string[]> {
  const rows = await sql<{ id: string }[]>`
    select m.id from messages m
    where m.workspace_id = ${workspace_id} and m.mode = ${mode} and ${idIn(sql, sql`m.id`, ids)}`;
  return rows.map((row) => row.id);
}

/** Filters message ids to those with an open recipient. Served by the primary key. */
export async function openMail(sql: Sql | Tx, workspace_id: string, ids: readonly string[]): Promise<string[]> {
  const rows = await sql<{ id: string }[]>`
    select distinct r.message_id as id from recipients r
    where ${idIn(sql, sql`r.message_id`, ids)} and r.workspace_id = ${workspace_id} and r.is_open`;
  return rows.map((row) => row.id);
}
