import type { Fragment, Sql, Tx } from '@postrider/db';

/** Whether somebody holds a webhook, as a condition; one step of holds_twin, which names active holds only. */
export function isHeld(sql: Sql | Tx, webhook_id: Fragment): Fragment {
  return sql`exists (
    select from holds h
    where h.scope = 'webhook' and h.value = ${webhook_id} and h.ended_at is null and h.expires_at > clock_now()
  )`;
}
