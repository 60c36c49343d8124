import type { Sql, Tx } from '@postrider/db';
import { holdsQueue } from '../holds/index.ts';
import { INSTANCE } from '../operation/access.ts';
import type { JobName } from '../process/jobs.ts';

// Three missed heartbeats.
const LIVE_SECONDS = 45;
const MAX_PROVIDERS = 12;
// The maximum number of overdue recipients searched for scheduled ones, oldest first.
const MAX_SCANNED = 5000;
const DELIVERY_JOB: JobName = 'delivery.attempt';

export interface QueueState {
  readonly queue: string;
  readonly ready: number;
  readonly deferred: number;
  readonly active: number;
  readonly dead: number;
  readonly parked: number;
  readonly oldest_ready_seconds: number | null;
  readonly held: boolean;
}

/** The numbers of the whole instance. All are lookups in small tables or in a bounded part of an index. */
export interface InstanceNumbers {
  readonly queues: readonly QueueState[];
  readonly roles: readonly { readonly role: string; readonly live: number }[];
  readonly backlog: readonly { readonly provider: string; readonly total: number; readonly oldest_seconds: number }[];
  readonly holds: readonly { readonly scope: string; readonly active: number }[];
  readonly heartbeat_age_seconds: number | null;
  readonly endpoints_disabled: number;
  readonly quota_used_ratio: number;
  readonly domains_failing: number;
  readonly scheduled_late_seconds: number;
  readonly clock_skew_seconds: number;
  readonly pool_waiting: number;
}

export async function instanceNumbers(sql: Sql | Tx): Promise<InstanceNumbers> {
  const [queues, roles, backlog, holds, [rest]] = await Promise.all([
    sql<QueueState[]>`
      select m.queue, m.ready, m.deferred, m.active, m.dead, m.parked, m.oldest_ready_seconds, exists (
        select from holds h
        where ${holdsQueue(sql, sql`m.queue`)}
      ) as held
      from queue_measures m order by m.queue`,
    sql<{ role: string; live: number }[]>`
      select r.role, count(*)::int as live from processes p cross join lateral unnest(p.roles) as r (role)
      where p.noted_at > clock_now() - make_interval(secs => ${LIVE_SECONDS}) group by 1 order by 1`,
    backlogOf(sql),
    sql<{ scope: string; active: number }[]>`
      select scope, count(*)::int as active from holds
      where ended_at is null and expires_at > clock_now() group by 1 order by 1`,
    sql<Omit<InstanceNumbers, 'queues' | 'roles' | 'backlog' | 'holds'>[]>`
      select
        (select extract(epoch from clock_now() - max(noted_at))::float8 from delivery_workers where not stopped)
          as heartbeat_age_seconds,
        (select count(*)::int from webhooks where status = 'disabled' and status_reason <> 'manual')
          as endpoints_disabled,
        (select coalesce(max(used::float8 / monthly_limit), 0) from usage_months
          where month = date_trunc('month', clock_now() at time zone 'UTC')::date and monthly_limit > 0)
          as quota_used_ratio,
        (select count(*)::int from domains
          where status = 'at_risk' or (status = 'failed' and verified_at is not null)) as domains_failing,
        ${lateness(sql)} as scheduled_late_seconds,
        (select coalesce(max(abs(clock_skew_seconds)), 0) from processes
          where noted_at > clock_now() - make_interval(secs => ${LIVE_SECONDS})) as clock_skew_seconds,
        (select coalesce(max(pool_waiting), 0)::int from processes
          where noted_at > clock_now() - make_interval(secs => ${LIVE_SECONDS})) as pool_waiting`,
  ]);
  if (!rest) throw new Error('a select without a condition answered nothing');
  return { queues, roles, backlog, holds, ...rest };
}

/** Returns the last count of open recipients for the largest providers, and the total for all others. */
async function backlogOf(sql: Sql | Tx): Promise<InstanceNumbers['backlog']> {
  return sql<{ provider: string; total: number; oldest_seconds: number }[]>`
    with counted as materialized (
      select dimension, key, total, oldest_at from backlog_rows
      where workspace_id = ${INSTANCE} and dimension in ('provider', 'all_recipients')
    ),
    named as materialized (
      select key as provider, total, oldest_at from counted where dimension = 'provider'
      order by total desc, key limit ${MAX_PROVIDERS}
    )
    select provider, total, extract(epoch from clock_now() - oldest_at)::float8 as oldest_seconds from named
    union all
    select 'other', (total - (select coalesce(sum(total), 0) from named))::int,
      extract(epoch from clock_now() - oldest_at)::float8
    from counted where dimension = 'all_recipients'`;
}

/**
 * Measures how overdue the oldest scheduled message is. Parked messages wait on purpose, as do all messages in a held
 * queue.
 */
function lateness(sql: Sql | Tx) {
  return sql`(
    select case when exists (
      select from holds h
      where ${holdsQueue(sql, sql`${DELIVERY_JOB}::text`)}
    ) then 0 else coalesce(extract(epoch from clock_now() - min(l.due_at)), 0)::float8 end
    from (
      select due_at, job_id, state from recipients
      where is_open and due_at < clock_now() order by due_at limit ${MAX_SCANNED}
    ) l
    where l.state = 'scheduled' and not exists (select from parked_deliveries p where p.job_id = l.job_id)
  )`;
}
