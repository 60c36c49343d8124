import { fence, type Sql, type Tx } from '@postrider/db';
import type { Jobs } from '../../process/jobs.ts';
import { isHeld, nextTokenAt } from '../deliveries/held-store.ts';

/** A fetched job and its endpoint. */
export interface Call {
  readonly workspace_id: string;
  readonly webhook_id: string;
  readonly job_id: string;
  readonly retry_count: number;
}

/** An exclusive lease on an endpoint, valid while the row names this owner and has not expired. */
export interface EndpointLease extends Call {
  readonly holder: string;
}

// Leases are renewed every few seconds; the endpoints of a dead worker wait until its leases expire.
export const LEASE_SECONDS = 10;
// How far the end of a lease searches the pending deliveries for the next due one: as far as a claim does.
const HEAD = 1000;
// The pause after a lease that could claim nothing although something was due; without it the next lease would follow
// immediately.
const IDLE_SECONDS = 0.25;

/**
 * Takes leases for one job per endpoint and returns the ids won; the other jobs finish here. Their deliveries were
 * committed earlier, so the current lease owner sees them before it finishes: the lock on the lease row orders this
 * statement before or after that point. If the lease owner died, a job fires when the lease expires.
 */
export async function takeLeaseRows(
  sql: Sql,
  jobs: Jobs,
  holder: string,
  calls: readonly Call[],
  surplus: readonly Call[],
  holders: readonly string[],
): Promise<Set<string>> {
  const rows = await sql<{ webhook_id: string }[]>`
    with calls as materialized (
      select * from unnest(
        ${calls.map((call) => call.workspace_id)}::uuid[],
        ${calls.map((call) => call.webhook_id)}::uuid[],
        ${calls.map((call) => call.job_id)}::uuid[],
        ${calls.map((call) => call.retry_count)}::int[]
      ) as a (workspace_id, webhook_id, job_id, retry_count)
    ),
    leases as materialized (
      select c.webhook_id, v.holder, v.held_until, v.next_look_at from calls c
      cross join lateral (select * from endpoint_leases x where x.webhook_id = c.webhook_id ${fence}) v
    ),
    open as materialized (
      select c.workspace_id, c.webhook_id from calls c
      -- The lock keeps a webhook that is being deleted from failing the insert, and with it the whole fetch.
      cross join lateral (
        select * from webhooks x where x.id = c.webhook_id and x.status = 'enabled' ${fence} for key share
      ) w
      left join leases v on v.webhook_id = c.webhook_id
      -- A job comes when the pause is over, or a rate leaves the next: until then there is nothing to do.
      where not coalesce(
          v.next_look_at > clock_now()
            and v.next_look_at <= greatest(w.paused_until, ${nextTokenAt(sql, sql`c.webhook_id`)}),
          false)
        -- The end of a hold calls again.
        and not ${isHeld(sql, sql`c.webhook_id`)}
    ),
    won as (
      insert into endpoint_leases as v (webhook_id, holder, held_until)
      select o.webhook_id, ${holder}::uuid, clock_now() + make_interval(secs => ${LEASE_SECONDS})
      from open o order by o.webhook_id
      on conflict (webhook_id) do update set holder = excluded.holder, held_until = excluded.held_until
        where v.holder is null or v.held_until <= clock_now()
      returning v.webhook_id
    ),
    busy as materialized (
      select o.workspace_id, o.webhook_id, v.held_until from open o join leases v on v.webhook_id = o.webhook_id
      where v.held_until > clock_now() and v.holder <> all (${holders}::uuid[])
        and not exists (select from won where won.webhook_id = o.webhook_id)
        and not coalesce(v.next_look_at > clock_now() and v.next_look_at <= v.held_until, false)
    ),
    announced as (
      update endpoint_leases v set next_look_at = b.held_until from busy b where v.webhook_id = b.webhook_id
    ),
    added as (${jobs.insertion(
      sql,
      'webhook.deliver',
      sql`
        select gen_random_uuid() as id, b.held_until as start_after, 0 as priority,
          jsonb_build_object('workspace_id', b.workspace_id, 'webhook_id', b.webhook_id) as data
        from busy b`,
    )}),
    ended as (${jobs.removal(
      sql,
      'webhook.deliver',
      sql`
        select c.job_id as id, c.retry_count from calls c
        where not exists (select from won where won.webhook_id = c.webhook_id)
        union all
        select * from unnest(
          ${surplus.map((call) => call.job_id)}::uuid[],
          ${surplus.map((call) => call.retry_count)}::int[]
        ) as a (id, retry_count)`,
    )})
    select webhook_id from won`;
  return new Set(rows.map((row) => row.webhook_id));
}

/** Renews leases; ids of lost leases are missing from the result. */
export async function renewLeaseRows(sql: Sql, leases: readonly EndpointLease[]): Promise<Set<string>> {
  const rows = await sql<{ webhook_id: string }[]>`
    with kept as materialized (
      select v.webhook_id from unnest(
        ${leases.map((lease) => lease.webhook_id)}::uuid[],
        ${leases.map((lease) => lease.holder)}::uuid[]
      ) as a (webhook_id, holder)
      join endpoint_leases v on v.webhook_id = a.webhook_id and v.holder = a.holder
      order by v.webhook_id for update of v
    )
    update endpoint_leases v set held_until = clock_now() + make_interval(secs => ${LEASE_SECONDS})
    from kept k where v.webhook_id = k.webhook_id
    returning v.webhook_id`;
  return new Set(rows.map((row) => row.webhook_id));
}

export interface EndedLease extends EndpointLease {
  /** Whether nothing was claimed under the lease. */
  readonly idle: boolean;
}

/**
 * Ends leases and their jobs. If deliveries are left, enqueues a job for when they are due; returns whether one is due
 * immediately. The first statement locks and the second reads, so that it sees the deliveries of every job that
 * finished at this lease.
 */
export async function endLeaseRows(tx: Tx, jobs: Jobs, leases: readonly EndedLease[]): Promise<boolean> {
  const rows = await tx<{ webhook_id: string }[]>`
    with held as materialized (
      select v.webhook_id from unnest(
        ${leases.map((lease) => lease.webhook_id)}::uuid[],
        ${leases.map((lease) => lease.holder)}::uuid[]
      ) as a (webhook_id, holder)
      join endpoint_leases v on v.webhook_id = a.webhook_id and v.holder = a.holder
      order by v.webhook_id for update of v
    )
    update endpoint_leases v set holder = null, held_until = null from held h where v.webhook_id = h.webhook_id
    returning v.webhook_id`;
  const ids = new Set(rows.map((row) => row.webhook_id));
  const own = leases.filter(({ webhook_id }) => ids.has(webhook_id));
  const [row] = await tx<{ at_once: boolean | null }[]>`
    with leases as materialized (
      select * from unnest(
        ${own.map((lease) => lease.webhook_id)}::uuid[],
        ${own.map((lease) => String(lease.idle))}::text[]::bool[]
      ) as a (webhook_id, idle)
    ),
    lines as materialized (
      select w.workspace_id, a.webhook_id, v.next_look_at, greatest(
        o.due_at, w.paused_until, ${nextTokenAt(tx, tx`a.webhook_id`)}, case when a.idle then clock_now() + make_interval(secs => ${IDLE_SECONDS}) end
      ) as due_at
      from leases a
      cross join lateral (select * from webhooks x where x.id = a.webhook_id and x.status = 'enabled' ${fence}) w
      cross join lateral (select * from endpoint_leases x where x.webhook_id = a.webhook_id ${fence}) v
      cross join lateral (
        select min(greatest(head.next_attempt_at, head.lease_until)) as due_at from (
          select d.next_attempt_at, d.lease_until from webhook_deliveries d
          where d.webhook_id = a.webhook_id and d.state = 'pending' order by d.next_attempt_at limit ${HEAD}
        ) head
      ) o
      where o.due_at is not null and not ${isHeld(tx, tx`a.webhook_id`)}
    ),
    due as materialized (
      select * from lines l where not coalesce(l.next_look_at > clock_now() and l.next_look_at <= l.due_at, false)
    ),
    announced as (
      update endpoint_leases v set next_look_at = d.due_at from due d where v.webhook_id = d.webhook_id
    ),
    added as (${jobs.insertion(
      tx,
      'webhook.deliver',
      tx`
        select gen_random_uuid() as id, nullif(greatest(d.due_at, clock_now()), clock_now()) as start_after, 0 as priority,
          jsonb_build_object('workspace_id', d.workspace_id, 'webhook_id', d.webhook_id) as data
        from due d`,
    )}),
    completed as (${jobs.withdrawal(
      tx,
      'webhook.deliver',
      leases.map(({ job_id, retry_count }) => ({ id: job_id, retry_count })),
    )})
    select bool_or(due_at <= clock_now()) as at_once from due`;
  return row?.at_once ?? false;
}

/** An overdue endpoint without a lease. */
export interface Forgotten {
  readonly workspace_id: string;
  readonly webhook_id: string;
}

/**
 * Returns overdue endpoints without a lease, among the next ones after an id, by a loose index scan of
 * webhook_deliveries_open. Skips disabled and paused endpoints.
 */
export async function overdueEndpoints(
  sql: Sql,
  overdue_seconds: number,
  after: string,
  count: number,
): Promise<{ readonly endpoints: Forgotten[]; readonly last: string | null }> {
  const rows = await sql<{ webhook_id: string; workspace_id: string | null }[]>`
    with recursive hops as (
      (select d.webhook_id, 1 as place from webhook_deliveries d
        where d.state = 'pending' and d.webhook_id > ${after} order by d.webhook_id limit 1)
      union all
      (select next.webhook_id, h.place + 1 from hops h
        cross join lateral (
          select d.webhook_id from webhook_deliveries d
          where d.state = 'pending' and d.webhook_id > h.webhook_id order by d.webhook_id limit 1
        ) next
        where h.place < ${count})
    )
    select h.webhook_id, w.workspace_id from hops h
    left join lateral (
      select x.workspace_id from webhooks x
      where x.id = h.webhook_id and x.status = 'enabled'
        and coalesce(x.paused_until, '-infinity') < clock_now() - make_interval(secs => ${overdue_seconds})
        and not exists (select from endpoint_leases v where v.webhook_id = x.id and v.held_until > clock_now())
        and not ${isHeld(sql, sql`x.id`)}
        and exists (
          select from (
            select d.lease_until from webhook_deliveries d
            where d.webhook_id = h.webhook_id and d.state = 'pending'
              and d.next_attempt_at < clock_now() - make_interval(secs => ${overdue_seconds})
            order by d.next_attempt_at limit ${HEAD}
          ) head where head.lease_until is null or head.lease_until < clock_now()
        )
      ${fence}
    ) w on true
    order by h.webhook_id`;
  return {
    endpoints: rows.flatMap(({ webhook_id, workspace_id }) =>
      workspace_id === null ? [] : [{ webhook_id, workspace_id }],
    ),
    last: rows.length < count ? null : (rows.at(-1)?.webhook_id ?? null),
  };
}
