import type { Sql } from '@postrider/db';
import type { KeyMode } from './api-keys/secret.ts';
import { among } from './keyset-store.ts';

/** Of some messages, those of a mode. */
export async function mailOfMode(
  sql: Sql,
  workspace_id: string,
  mode: KeyMode,
  ids: readonly string[],
): Promise<string[]> {
  const rows = await sql<{ id: string }[]>`
    select m.id from messages m
    where m.workspace_id = ${workspace_id} and m.mode = ${mode} and ${among(sql, sql`m.id`, ids)}`;
  return rows.map((row) => row.id);
}
