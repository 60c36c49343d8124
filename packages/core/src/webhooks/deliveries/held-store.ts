import type { Fragment, Sql, Tx } from '@postrider/db';

/**
 * Builds the condition that an active hold covers the webhook. Costs one step in `holds_twin`, the index of active
 * holds.
 */
export function isHeld(sql: Sql | Tx, webhook_id: Fragment): Fragment {
  return sql`exists (
    select from holds h
    where h.scope = 'webhook' and h.value_id = ${webhook_id} and h.ended_at is null and h.expires_at > clock_now()
  )`;
}

// Other events that unblock a webhook, such as the end of the held backlog, enqueue no job, so a waiting job polls at
// least this often.
const MAX_ASLEEP_SECONDS = 5;

/**
 * Returns when a webhook with a resume rate may post next, at most a few seconds ahead; null without a rate. Reads the
 * same hold as the workers' token bucket.
 */
export function nextTokenAt(sql: Sql | Tx, webhook_id: Fragment): Fragment {
  return sql`(
    select least(
      coalesce(h.resumed_until, h.ended_at) + ceil(60000000.0 / h.resume_rate_per_minute) * interval '1 microsecond',
      clock_now() + make_interval(secs => ${MAX_ASLEEP_SECONDS})
    )
    from holds h
    where h.scope = 'webhook' and h.value_id = ${webhook_id} and h.ended_at is not null
      and h.resume_rate_per_minute is not null and h.drained_at is null
    order by h.id desc limit 1
  )`;
}
