import type { Sql } from '@postrider/db';

export const MOST_AFFECTED = 10_000;

/**
 * What holds keep back, each counted up to a bound by a walk of an index; in one workspace, where one is named. Of mail
 * this is what a worker has set aside: what nobody has come to yet still stands in its queue.
 */
export async function affectedBy(
  sql: Sql,
  ids: readonly string[],
  workspace_id: string | null,
): Promise<Map<string, number>> {
  if (ids.length === 0) return new Map();
  // In a line of many workspaces the bound is on what is looked at, because the own part may stand far behind.
  const rows = await sql<{ id: string; affected: number }[]>`
    select h.id, least(${MOST_AFFECTED}, case
      when h.scope = 'queue' and h.value = 'webhook.deliver' then (
        select count(*) filter (where c.workspace_id = ${workspace_id} or ${workspace_id === null}) from (
          select p.workspace_id from webhook_deliveries p where p.state = 'pending' limit ${MOST_AFFECTED}
        ) c)
      when h.scope = 'queue' then (
        select count(*) filter (where c.workspace_id = ${workspace_id} or ${workspace_id === null}) from (
          select j.data->>'workspace_id' as workspace_id from pgboss.job j
          where j.name = h.value and j.state < 'active' and not j.blocked and j.start_after <= pgboss.job_now()
          limit ${MOST_AFFECTED}
        ) c) + (
        select count(*) filter (where c.workspace_id = ${workspace_id} or ${workspace_id === null}) from (
          select p.workspace_id from parked_deliveries p where h.value = 'delivery.attempt' limit ${MOST_AFFECTED}
        ) c)
      when h.scope = 'webhook' then (
        select count(*) from (
          select from webhook_deliveries p where p.webhook_id = h.value and p.state = 'pending' limit ${MOST_AFFECTED}
        ) c)
      else (
        select count(*) from (
          select from parked_deliveries p
          where p.lane = 'held ' || h.id and ${workspace_id === null ? sql`true` : sql`p.workspace_id = ${workspace_id}`}
          limit ${MOST_AFFECTED}
        ) c)
      end)::int as affected
    from holds h where h.id = any (${ids}::text[])`;
  return new Map(rows.map((row) => [row.id, row.affected]));
}
