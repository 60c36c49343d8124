import { equalsByRange, type Fragment, type Sql, type Tx } from '@postrider/db';
import { idIn } from '../../paging/keyset-store.ts';
import { closedInSql } from '../../states/index.ts';

/**
 * Builds the condition under which the content of message m counts as deleted even before the row is emptied: the
 * content is not retained, and all recipients are closed.
 */
export function countsAsDeleted(sql: Sql | Tx): Fragment {
  return sql`m.retain = 'none' and m.status in (${closedInSql})`;
}

/**
 * Deletes contents that are not retained; returns the number of messages affected. Served by messages_to_empty.
 * Messages locked by another transaction are left for the next run.
 */
export async function deleteUnkeptBatch(tx: Tx, max: number): Promise<number> {
  const picked = await tx<{ workspace_id: string; id: string }[]>`
    select m.workspace_id, m.id from messages m
    where ${countsAsDeleted(tx)} and not m.content_deleted
    limit ${max} for no key update skip locked`;
  if (picked.length === 0) return 0;
  const ids = picked.map(({ id }) => id);
  const workspace_ids = picked.map(({ workspace_id }) => workspace_id);
  await tx`
    delete from bodies b using unnest(${workspace_ids}::uuid[], ${ids}::uuid[]) as a (workspace_id, id)
    where ${idIn(tx, tx`b.message_id`, ids)} and b.message_id = a.id and b.workspace_id = a.workspace_id`;
  await tx`
    update messages m set content_deleted = true
    from unnest(${workspace_ids}::uuid[], ${ids}::uuid[]) as a (workspace_id, id)
    where ${equalsByRange(tx, tx`m.workspace_id`, tx`a.workspace_id`)} and m.id = a.id`;
  return picked.length;
}
