import { fence, isoTimes, retryingDeadlock, type Sql, type Tx } from '@postrider/db';
import type { AcquiredRow, Job, JobHold } from '@postrider/queue';
import type { Services } from '../operation/context.ts';
import type { KeyMode } from '../operation/secrets.ts';
import { jobPriorities, jobPriorityOf, type Priority, priorities, priorityOfJob } from '../priorities/index.ts';
import { idleInSql, openInSql } from '../states/index.ts';

type Database = Pick<Services, 'sql' | 'jobs'>;

interface RecipientKey {
  readonly workspace_id: string;
  readonly message_id: string;
  readonly recipient_id: string;
}

/** Who a fetched job is for, as far as the choice of its lane asks. */
export interface Addressee {
  readonly email: string;
  readonly mode: KeyMode;
  readonly from_domain: string;
  readonly api_key_id: string | null;
  readonly due_at: Date;
}

export interface Fetched {
  readonly job: Job<RecipientKey>;
  readonly priority: Priority;
  /** When the job was made. */
  readonly created_on: Date;
  /** Null if nothing can wait for a lane: not due, closed, claimed or gone. */
  readonly addressee: Addressee | null;
}

/** What to fetch of the jobs of a priority; with `made_after`, older ones may be left out. */
export interface WantedMail {
  readonly priority: Priority;
  readonly count: number;
  readonly made_after: Date | null;
}

/** Fetches ready jobs with their recipients, served by the primary keys. */
export async function fetchDeliveries({ sql, jobs }: Database, wanted: readonly WantedMail[]): Promise<Fetched[]> {
  const asked = wanted.map((one) => ({ ...one, priority: jobPriorities[one.priority] }));
  const rows = await sql<
    (AcquiredRow & { created_on: Date; ready: boolean | null; job_priority: number } & Addressee)[]
  >`
    with fetched as (${jobs.acquisition(sql, 'delivery.attempt', asked)})
    select f.id, f.retry_count, f.data, f.created_on, f.priority as job_priority, r.email, m.mode, m.from_domain, m.api_key_id, r.due_at, r.ready
    from fetched f
    left join lateral (
      select x.email, x.due_at, x.due_at <= clock_now() and (x.state in (${idleInSql})
        or (x.state = 'sending' and x.lease_until < clock_now())) as ready
      from recipients x where x.workspace_id = (f.data ->> 'workspace_id')::uuid
        and x.message_id = (f.data ->> 'message_id')::uuid and x.id = (f.data ->> 'recipient_id')::uuid ${fence}
    ) r on true
    left join lateral (
      select x.mode, x.from_domain, x.api_key_id from messages x
      where x.workspace_id = (f.data ->> 'workspace_id')::uuid and x.id = (f.data ->> 'message_id')::uuid ${fence}
    ) m on true
    order by f.created_on`;
  return (await jobs.acquired('delivery.attempt', rows)).map(({ row, job }) => ({
    job,
    priority: priorityOfJob(row.job_priority),
    created_on: row.created_on,
    addressee: row.ready && row.mode !== null ? row : null,
  }));
}

export interface ToPark extends RecipientKey {
  readonly job: JobHold;
  readonly lane: string;
  readonly priority: Priority;
  readonly due_at: Date;
}

/**
 * Moves fetched jobs out of the queue in one statement, without touching their recipients. A job that another worker
 * has fetched meanwhile stays there. Returns how many were parked.
 */
export async function parkDeliveries({ sql, jobs }: Database, unordered: readonly ToPark[]): Promise<number> {
  if (unordered.length === 0) return 0;
  // Jobs are locked in this order by everyone.
  const parked = unordered.toSorted((left, right) => (left.job.id < right.job.id ? -1 : 1));
  const holds = parked.map(({ job }) => job);
  const rows = await retryingDeadlock(
    () => sql`
    with withdrawn as (${jobs.withdrawal(sql, 'delivery.attempt', holds)}),
    tended as (
      insert into lanes (lane, tended_at)
      select a.lane, clock_now() from (select distinct lane from unnest(${parked.map(({ lane }) => lane)}::text[]) as l (lane)) a
      order by a.lane
      on conflict (lane) do nothing
    )
    insert into parked_deliveries (job_id, lane, priority, workspace_id, message_id, recipient_id, due_at)
    select w.id, a.lane, a.priority::mail_priority, a.workspace_id, a.message_id, a.recipient_id, a.due_at
    from withdrawn w
    join unnest(
      ${holds.map(({ id }) => id)}::uuid[],
      ${parked.map(({ lane }) => lane)}::text[],
      ${parked.map(({ priority }) => priority)}::text[],
      ${parked.map(({ workspace_id }) => workspace_id)}::uuid[],
      ${parked.map(({ message_id }) => message_id)}::uuid[],
      ${parked.map(({ recipient_id }) => recipient_id)}::uuid[],
      ${isoTimes(parked.map(({ due_at }) => due_at))}::timestamptz[]
    ) as a (job_id, lane, priority, workspace_id, message_id, recipient_id, due_at) on a.job_id = w.id
    on conflict (job_id) do nothing
    returning job_id`,
  );
  return rows.length;
}

/** A slice to take from the mail of one priority that a lane has parked. */
export interface Slice {
  readonly lane: string;
  readonly priority: Priority;
  readonly count: number;
  /** The workspace that was served last; empty to begin with the first. */
  readonly after: string;
}

export interface Resumed extends RecipientKey {
  readonly lane: string;
  readonly priority: Priority;
  readonly job_id: string;
  readonly email: string;
  readonly mode: KeyMode;
  readonly from_domain: string;
  readonly api_key_id: string | null;
  readonly due_at: Date;
}

export const WORKSPACES_IN_A_SLICE = 16;

/**
 * Moves the next slices of lanes back into the queue, already fetched by the caller: workspaces in turn, longest due
 * first. Workers skip each other's rows; canceled or rescheduled mail is dropped. Served by parked_deliveries_turn, one
 * step per workspace, and by primary keys: the condition lists states instead of "open", so that the planner cannot
 * walk recipients_open for a key.
 */
export async function resumeParked({ sql, jobs }: Database, slices: readonly Slice[]): Promise<Resumed[]> {
  if (slices.length === 0) return [];
  const resumption = jobs.resumption(
    sql,
    'delivery.attempt',
    sql`
      select job_id as id, ${jobPriorityOf(sql, sql`priority`)} as priority, jsonb_build_object(
        'workspace_id', workspace_id, 'message_id', message_id, 'recipient_id', recipient_id) as data
      from live`,
  );
  return sql<Resumed[]>`
    with recursive asked as materialized (
      select * from unnest(
        ${slices.map(({ lane }) => lane)}::text[],
        ${slices.map(({ priority }) => priority)}::text[]::mail_priority[],
        ${slices.map(({ count }) => count)}::int[],
        ${slices.map(({ after }) => after)}::uuid[]
      ) as a (lane, priority, count, after)
    ),
    walk as (
      select a.lane, a.priority, a.count, 1 as place, f.workspace_id
      from asked a cross join lateral (
        select p.workspace_id from parked_deliveries p
        where p.lane = a.lane and p.priority = a.priority and p.workspace_id > a.after
        order by p.workspace_id limit 1
      ) f
      union all
      select w.lane, w.priority, w.count, w.place + 1, n.workspace_id
      from walk w cross join lateral (
        select p.workspace_id from parked_deliveries p
        where p.lane = w.lane and p.priority = w.priority and p.workspace_id > w.workspace_id
        order by p.workspace_id limit 1
      ) n
      where w.place < ${WORKSPACES_IN_A_SLICE}
    ),
    shares as materialized (
      select w.lane, w.priority, w.workspace_id, w.count,
        ceil(w.count::float8 / count(*) over (partition by w.lane, w.priority))::int as share
      from walk w
    ),
    heads as materialized (
      select s.lane, s.priority, s.workspace_id, s.count, h.job_id, h.place
      from shares s cross join lateral (
        select p.job_id, row_number() over (order by p.due_at, p.job_id) as place from (
          select p.job_id, p.due_at from parked_deliveries p
          where p.lane = s.lane and p.priority = s.priority and p.workspace_id = s.workspace_id
          order by p.due_at, p.job_id limit s.share
          for update skip locked
        ) p
      ) h
    ),
    picked as materialized (
      select job_id from (
        select job_id, count, row_number() over (partition by lane, priority order by place, workspace_id) as turn from heads
      ) t where turn <= count
    ),
    taken as (
      delete from parked_deliveries d where d.job_id = any (array(select job_id from picked))
      returning d.lane, d.priority, d.job_id, d.workspace_id, d.message_id, d.recipient_id, d.due_at
    ),
    live as materialized (
      select t.lane, t.priority, t.job_id, t.workspace_id, t.message_id, t.recipient_id, t.due_at, r.email, m.mode, m.from_domain, m.api_key_id
      from taken t
      cross join lateral (select x.email from recipients x where x.workspace_id = t.workspace_id
        and x.message_id = t.message_id and x.id = t.recipient_id and x.job_id = t.job_id
        and x.state in (${openInSql}) ${fence}) r
      cross join lateral (select x.mode, x.from_domain, x.api_key_id from messages x
        where x.workspace_id = t.workspace_id and x.id = t.message_id ${fence}) m
    ),
    resumed as (${resumption}),
    tended as (
      update lanes l set tended_at = clock_now() where l.lane in (select lane from asked) and exists (select from taken t where t.lane = l.lane)
    )
    select lane, priority, job_id, workspace_id, message_id, recipient_id, due_at, email, mode, from_domain, api_key_id
    from live order by lane, priority, due_at, job_id`;
}

export type ClosedReason = 'failing' | 'limit';

/** The shared state of a lane that is closed or has parked mail. */
export interface LaneRow {
  readonly lane: string;
  readonly closed: boolean;
  readonly closed_until: Date | null;
  readonly reason: ClosedReason | null;
  readonly last_reply: string | null;
  readonly closings: number;
  /** The priorities of its parked mail. */
  readonly parked: readonly Priority[];
}

/** Lanes with parked mail per poll. */
export const LANES_IN_A_LOOK = 1000;
const ALL_LANES = 100_000;

/** Lanes with parked mail after a name, once for each priority: one index step each. */
const parkedLanes = (sql: Sql | Tx, after: string, most: number) => sql`
  walk as (
    (select lane, priority, 1 as place from parked_deliveries where lane > ${after} order by lane, priority limit 1)
    union all
    select n.lane, n.priority, w.place + 1 from walk w cross join lateral (
      select p.lane, p.priority from parked_deliveries p
      where (p.lane, p.priority) > (w.lane, w.priority) order by p.lane, p.priority limit 1
    ) n
    where w.place < ${most * priorities.length}
  )`;

/** Lanes that are closed or have parked mail (these after a name); marks the latter as synced. */
export async function tendLanes(sql: Sql, after = ''): Promise<LaneRow[]> {
  return sql<LaneRow[]>`
    with recursive ${parkedLanes(sql, after, LANES_IN_A_LOOK)},
    known as materialized (
      select lane, closed_until, reason, last_reply, closings, tended_at from lanes
      where closed_until > clock_now() - interval '1 minute' or lane in (select lane from walk)
    ),
    tended as (
      update lanes l set tended_at = clock_now() from known k
      where l.lane = k.lane and k.tended_at < clock_now() - interval '15 seconds' and l.lane in (select lane from walk)
    )
    select coalesce(k.lane, w.lane) as lane, coalesce(k.closed_until > clock_now(), false) as closed, k.closed_until,
      k.reason, k.last_reply, coalesce(k.closings, 0) as closings, coalesce(w.priorities, '{}') as parked
    from known k
    full join (select lane, array_agg(priority::text) as priorities from walk group by lane) w on w.lane = k.lane`;
}

export interface Closing {
  readonly lane: string;
  readonly seconds: number;
  readonly closings: number;
  readonly last_reply: string | null;
}

/** Closes a lane for all workers, never for shorter than it already is. */
export async function closeLane(sql: Sql, { lane, seconds, closings, last_reply }: Closing): Promise<void> {
  await sql`
    insert into lanes as l (lane, closed_until, reason, last_reply, closings, tended_at)
    values (${lane}, clock_now() + make_interval(secs => ${seconds}), 'failing', ${last_reply}, ${closings}, clock_now())
    on conflict (lane) do update set closed_until = excluded.closed_until, reason = excluded.reason,
      last_reply = excluded.last_reply, closings = excluded.closings
    where l.closed_until is null or l.closed_until < excluded.closed_until`;
}

/** Resets the backoff after a success. */
export async function forgetClosings(sql: Sql, lane: string): Promise<void> {
  await sql`
    update lanes set closed_until = null, reason = null, last_reply = null, closings = 0
    where lane = ${lane} and (closed_until is null or closed_until <= clock_now())`;
}

/** Forgets lanes that nothing has been parked in or closed for a day. */
export async function forgetLanes(sql: Sql | Tx): Promise<void> {
  await sql`
    delete from lanes l
    where tended_at < clock_now() - interval '1 day'
      and (closed_until is null or closed_until < clock_now() - interval '1 day')
      and not exists (select from parked_deliveries p where p.lane = l.lane)`;
  await sql`delete from destination_minutes where minute < clock_now() - interval '10 minutes'`;
}

/** Filters to parked jobs: they wait for their lane and are not lost. */
export async function parkedJobs(sql: Sql | Tx, job_ids: readonly string[]): Promise<Set<string>> {
  const rows = await sql<{ job_id: string }[]>`
    select p.job_id from unnest(${job_ids}::uuid[]) as a (job_id)
    cross join lateral (select x.job_id from parked_deliveries x where x.job_id = a.job_id ${fence}) p`;
  return new Set(rows.map((row) => row.job_id));
}

/** Open lanes with parked mail that no worker has synced for so long. */
export async function untendedLanes(sql: Sql, seconds: number): Promise<string[]> {
  const rows = await sql<{ lane: string }[]>`
    with recursive ${parkedLanes(sql, '', ALL_LANES)}
    select distinct w.lane from walk w left join lanes l on l.lane = w.lane
    where l.lane is null
      or greatest(l.tended_at, l.closed_until) < clock_now() - make_interval(secs => ${seconds})`;
  return rows.map((row) => row.lane);
}

/** Requeues the longest-parked mail of a lane; returns how many. */
export async function unparkDeliveries({ sql, jobs }: Database, lane: string, count: number): Promise<number> {
  const insertion = jobs.insertion(
    sql,
    'delivery.attempt',
    sql`
      select t.job_id as id, jsonb_build_object('workspace_id', t.workspace_id, 'message_id', t.message_id,
        'recipient_id', t.recipient_id) as data, null::timestamptz as start_after,
        ${jobPriorityOf(sql, sql`t.priority`)} as priority
      from taken t`,
  );
  const rows = await sql`
    with picked as materialized (
      select job_id from parked_deliveries where lane = ${lane}
      order by priority, workspace_id, due_at, job_id limit ${count} for update skip locked
    ),
    taken as (
      delete from parked_deliveries d where d.job_id = any (array(select job_id from picked))
      returning d.job_id, d.priority, d.workspace_id, d.message_id, d.recipient_id
    ),
    added as (${insertion})
    select job_id from taken`;
  return rows.length;
}

export interface DestinationLimit {
  readonly destination: string;
  readonly connections: number | null;
  readonly messages_per_minute: number | null;
}

export async function destinationLimits(sql: Sql | Tx): Promise<DestinationLimit[]> {
  return sql<DestinationLimit[]>`
    select destination, connections, messages_per_minute from destination_limits order by destination`;
}

export async function destinationLimit(tx: Tx, destination: string): Promise<DestinationLimit | null> {
  const [row] = await tx<DestinationLimit[]>`
    select destination, connections, messages_per_minute from destination_limits
    where destination = ${destination} for update`;
  return row ?? null;
}

/**
 * Takes tokens of limited destinations for the current minute and returns, in the given order, how many are granted; a
 * destination granted fewer is closed until the next minute. All workers share one row per destination and minute, so
 * that together they never exceed the limit.
 */
export async function countAgainstLimits(
  sql: Sql,
  wanted: readonly { readonly destination: string; readonly count: number }[],
): Promise<Map<string, number>> {
  const rows = await sql<{ destination: string; granted: number }[]>`
    with asked as materialized (
      select a.destination, a.count, l.messages_per_minute as most
      from unnest(
        ${wanted.map(({ destination }) => destination)}::text[],
        ${wanted.map(({ count }) => count)}::int[]
      ) as a (destination, count)
      join destination_limits l on l.destination = a.destination and l.messages_per_minute is not null
    ),
    counted as (
      insert into destination_minutes as m (destination, minute, used)
      select destination, date_trunc('minute', clock_now()), count from asked order by destination
      on conflict (destination, minute) do update set used = m.used + excluded.used
      returning destination, used
    ),
    granted as materialized (
      select a.destination, a.count, greatest(0, least(a.count, a.most - (c.used - a.count))) as granted
      from asked a join counted c on c.destination = a.destination
    ),
    closed as (
      insert into lanes as l (lane, closed_until, reason, tended_at)
      select destination, date_trunc('minute', clock_now()) + interval '1 minute', 'limit', clock_now()
      from granted where granted < count order by destination
      on conflict (lane) do update set closed_until = excluded.closed_until, reason = excluded.reason
      where l.closed_until is null or l.closed_until < excluded.closed_until
    )
    select destination, granted from granted`;
  return new Map(rows.map((row) => [row.destination, row.granted]));
}

/** Limits a destination from now on; the current minute counts mail that was sent, not mail that was held back. */
export async function putDestinationLimit(tx: Tx, limit: DestinationLimit): Promise<void> {
  await settleMinute(tx, limit.destination);
  await tx`
    insert into destination_limits as l (destination, connections, messages_per_minute, changed_at)
    values (${limit.destination}, ${limit.connections}, ${limit.messages_per_minute}, clock_now())
    on conflict (destination) do update set connections = excluded.connections,
      messages_per_minute = excluded.messages_per_minute, changed_at = excluded.changed_at`;
}

export async function dropDestinationLimit(tx: Tx, destination: string): Promise<boolean> {
  await settleMinute(tx, destination);
  const rows = await tx`delete from destination_limits where destination = ${destination} returning destination`;
  return rows.length > 0;
}

/** Opens a destination that its old limit has closed, and forgets the mails that it held back. */
async function settleMinute(tx: Tx, destination: string): Promise<void> {
  await tx`
    update destination_minutes m set used = least(m.used, l.messages_per_minute)
    from destination_limits l where l.destination = m.destination and m.destination = ${destination}`;
  await tx`
    update lanes set closed_until = null, reason = null where lane = ${destination} and reason = 'limit'`;
}

export interface LaneSummary {
  readonly lane: string;
  readonly closed_until: Date | null;
  readonly reason: ClosedReason | null;
  readonly last_reply: string | null;
  readonly parked: number;
}

/** Destinations that a hold keeps mail back from; served by holds_in_force. */
export async function heldDestinations(
  sql: Sql,
): Promise<{ readonly id: string; readonly destination: string; readonly expires_at: Date }[]> {
  return sql`
    select h.id, h.value as destination, h.expires_at from holds h
    where h.ended_at is null and h.scope = 'destination' and h.expires_at > clock_now()
    order by h.value`;
}

/** Lanes that are closed or have parked mail, with how much, counted up to a bound. */
export async function laneSummaries(sql: Sql, most_counted: number): Promise<LaneSummary[]> {
  return sql<LaneSummary[]>`
    with recursive ${parkedLanes(sql, '', LANES_IN_A_LOOK)},
    named as (
      select lane from walk
      union (select lane from lanes where closed_until > clock_now() order by lane limit ${LANES_IN_A_LOOK})
    )
    select n.lane, l.closed_until, l.reason, l.last_reply, c.parked
    from named n
    left join lanes l on l.lane = n.lane and l.closed_until > clock_now()
    cross join lateral (
      select count(*)::int as parked from (select from parked_deliveries p where p.lane = n.lane limit ${most_counted}) p
    ) c
    order by n.lane`;
}
