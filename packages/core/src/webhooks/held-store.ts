import type { Fragment, Sql, Tx } from '@postrider/db';

/** Whether somebody holds a webhook, as a condition; one step of holds_twin, which names active holds only. */
export function isHeld(sql: Sql | Tx, webhook_id: Fragment): Fragment {
  return sql`exists (
    select from holds h
    where h.scope = 'webhook' and h.value = ${webhook_id} and h.ended_at is null and h.expires_at > clock_now()
  )`;
}

// What else may let a webhook go on, as the end of all that was kept back, calls for none: so long it may wait for that.
const MOST_ASLEEP_SECONDS = 5;

/**
 * When a webhook that goes on at the rate of a hold may take the next one, at most a few seconds away; null where no
 * rate binds it. The hold is the one that the workers count on.
 */
export function nextTokenAt(sql: Sql | Tx, webhook_id: Fragment): Fragment {
  return sql`(
    select least(
      coalesce(h.resumed_until, h.ended_at) + ceil(60000000.0 / h.resume_rate_per_minute) * interval '1 microsecond',
      clock_now() + make_interval(secs => ${MOST_ASLEEP_SECONDS})
    )
    from holds h
    where h.scope = 'webhook' and h.value = ${webhook_id} and h.ended_at is not null
      and h.resume_rate_per_minute is not null and h.drained_at is null
    order by h.id desc limit 1
  )`;
}
