import type { Sql } from '@postrider/db';
import { fromReadyJobs } from '@postrider/queue';
import { ratedQueue } from './queue-store.ts';

export const MAX_AFFECTED = 10_000;

/**
 * Counts held items per hold, up to a limit, by an index walk; optionally only those of one workspace. For a hold on a
 * destination, sending domain or API key, only parked deliveries count, because a message that no worker has fetched
 * yet is still in its queue.
 */
export async function affectedBy(
  sql: Sql,
  ids: readonly string[],
  workspace_id: string | null,
): Promise<Map<string, number>> {
  if (ids.length === 0) return new Map();
  // A lane may contain many workspaces, so the limit is on the rows examined: this workspace's rows may be far back.
  const rows = await sql<{ id: string; affected: number }[]>`
    select h.id, least(${MAX_AFFECTED}, case
      when h.scope = 'queue' and h.value = 'webhook.deliver' then (
        select count(*) filter (where c.workspace_id = ${workspace_id}::uuid or ${workspace_id === null}) from (
          select p.workspace_id from webhook_deliveries p where p.state = 'pending' limit ${MAX_AFFECTED}
        ) c)
      when h.scope in ('queue', 'instance') then (
        select count(*) filter (where c.workspace_id = ${workspace_id}::uuid or ${workspace_id === null}) from (
          select (j.data->>'workspace_id')::uuid as workspace_id ${fromReadyJobs(sql, ratedQueue(sql))}
          limit ${MAX_AFFECTED}
        ) c) + (
        select count(*) filter (where c.workspace_id = ${workspace_id}::uuid or ${workspace_id === null}) from (
          select p.workspace_id from parked_deliveries p where ${ratedQueue(sql)} = 'delivery.attempt' limit ${MAX_AFFECTED}
        ) c) + (
        select count(*) filter (where c.workspace_id = ${workspace_id}::uuid or ${workspace_id === null}) from (
          select p.workspace_id from webhook_deliveries p
          where h.scope = 'instance' and p.state = 'pending' limit ${MAX_AFFECTED}
        ) c)
      when h.scope = 'webhook' then (
        select count(*) from (
          select from webhook_deliveries p where p.webhook_id = h.value_id and p.state = 'pending' limit ${MAX_AFFECTED}
        ) c)
      else (
        select count(*) from (
          select from parked_deliveries p
          where p.lane = 'held ' || id_text(h.id) and ${workspace_id === null ? sql`true` : sql`p.workspace_id = ${workspace_id}`}
          limit ${MAX_AFFECTED}
        ) c)
      end)::int as affected
    from holds h where h.id = any (${ids}::uuid[])`;
  return new Map(rows.map((row) => [row.id, row.affected]));
}
