import type { Fragment, Sql, Tx } from '@postrider/db';
import { holdsQueue } from '../../holds/index.ts';

/**
 * Builds the column that says what keeps pending delivery d from its attempt, as JSON; null if only its own schedule
 * does. These are the conditions of a claim. Costs one step in webhooks and in holds_twin, for pending rows only.
 */
export function waitingColumn(sql: Sql | Tx): Fragment {
  return sql`case when d.state = 'pending' and (d.lease_until is null or d.lease_until < clock_now()) then (
      select case
        when w.status <> 'enabled' then jsonb_build_object('reason', 'endpoint_disabled')
        when held.id is not null then jsonb_build_object(
          'reason', case held.scope when 'webhook' then 'hold' else 'queue_paused' end,
          'until', greatest(held.expires_at, d.next_attempt_at), 'hold_id', id_text(held.id))
        when w.paused_until > clock_now() then jsonb_build_object(
          'reason', 'endpoint_paused', 'until', greatest(w.paused_until, d.next_attempt_at))
      end
      from webhooks w
      left join lateral (
        select h.id, h.scope, h.expires_at from holds h
        where h.ended_at is null and h.expires_at > clock_now()
          and (h.scope = 'webhook' and h.value_id = w.id or ${holdsQueue(sql, sql`'webhook.deliver'`)})
        order by h.scope desc limit 1
      ) held on true
      where w.workspace_id = d.workspace_id and w.id = d.webhook_id
    ) end::text as waiting`;
}
