import type { Sql, Tx } from '@postrider/db';
import type { Priority } from '../priorities/index.ts';

/** Why a lane is closed: its servers fail, or the limit of its destination or of its transport is used up. */
export const closedReasons = ['failing', 'limit', 'transport_limit'] as const;
export type ClosedReason = (typeof closedReasons)[number];

/** The shared state of a lane that is closed or has parked messages. */
export interface LaneRow {
  readonly lane: string;
  readonly closed: boolean;
  readonly closed_until: Date | null;
  readonly reason: ClosedReason | null;
  readonly last_reply: string | null;
  readonly closings: number;
  /** The priorities of its parked messages. */
  readonly parked: readonly Priority[];
}

/** The number of lanes with parked messages read per poll. */
export const LANES_PER_POLL = 1000;
const ALL_LANES = 100_000;

/** Selects lanes with parked messages that sort after a name; one index step per lane. */
const parkedLanes = (sql: Sql | Tx, after: string, max: number) => sql`
  walk as (
    (select lane, 1 as place from parked_deliveries where lane > ${after} order by lane limit 1)
    union all
    select n.lane, w.place + 1 from walk w cross join lateral (
      select p.lane from parked_deliveries p where p.lane > w.lane order by p.lane limit 1
    ) n
    where w.place < ${max}
  )`;

/** Selects the priorities of the messages parked in these lanes; one index step per priority. */
const parkedPriorities = (sql: Sql | Tx) => sql`
  select w.lane, array_agg(n.priority::text) as priorities
  from walk w
  cross join unnest(enum_range(null::mail_priority)) as v (priority)
  cross join lateral (
    select p.lane, p.priority from parked_deliveries p
    where (p.lane, p.priority) >= (w.lane, v.priority) order by p.lane, p.priority limit 1
  ) n
  where n.lane = w.lane and n.priority = v.priority
  group by w.lane`;

/**
 * Returns up to `max` lanes that sort after a name and are closed, were closed until a minute ago, or have parked
 * messages; marks lanes with parked messages as synced.
 */
export async function syncLanes(sql: Sql, after = '', max = LANES_PER_POLL): Promise<LaneRow[]> {
  return sql<LaneRow[]>`
    with recursive ${parkedLanes(sql, after, max)},
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
    full join (${parkedPriorities(sql)}) w on w.lane = k.lane`;
}

export interface Closing {
  readonly lane: string;
  readonly seconds: number;
  readonly closings: number;
  readonly last_reply: string | null;
}

/** Closes a lane for all workers. Never shortens an existing closing. */
export async function closeLane(sql: Sql, { lane, seconds, closings, last_reply }: Closing): Promise<void> {
  await sql`
    insert into lanes as l (lane, closed_until, reason, last_reply, closings, tended_at)
    values (${lane}, clock_now() + make_interval(secs => ${seconds}), 'failing', ${last_reply}, ${closings}, clock_now())
    on conflict (lane) do update set closed_until = excluded.closed_until, reason = excluded.reason,
      last_reply = excluded.last_reply, closings = excluded.closings
    where l.closed_until is null or l.closed_until < excluded.closed_until`;
}

/** Resets a lane's backoff after a success. */
export async function forgetClosings(sql: Sql, lane: string): Promise<void> {
  await sql`
    update lanes set closed_until = null, reason = null, last_reply = null, closings = 0
    where lane = ${lane} and (closed_until is null or closed_until <= clock_now())`;
}

/** Deletes lanes that have been open and had no parked messages for a day. */
export async function forgetLanes(sql: Sql | Tx): Promise<void> {
  await sql`
    delete from lanes l
    where tended_at < clock_now() - interval '1 day'
      and (closed_until is null or closed_until < clock_now() - interval '1 day')
      and not exists (select from parked_deliveries p where p.lane = l.lane)`;
  await sql`delete from destination_minutes where minute < clock_now() - interval '10 minutes'`;
  await sql`
    delete from transport_windows
    where starts_at < clock_now() - case unit when 'minute' then interval '10 minutes' else interval '2 days' end`;
}

/** Returns open lanes that have parked messages and have not been synced by any worker for `seconds`. */
export async function unsyncedLanes(sql: Sql, seconds: number): Promise<string[]> {
  const rows = await sql<{ lane: string }[]>`
    with recursive ${parkedLanes(sql, '', ALL_LANES)}
    select w.lane from walk w left join lanes l on l.lane = w.lane
    where l.lane is null
      or greatest(l.tended_at, l.closed_until) < clock_now() - make_interval(secs => ${seconds})`;
  return rows.map((row) => row.lane);
}

export interface LaneSummary {
  readonly lane: string;
  readonly closed_until: Date | null;
  readonly reason: ClosedReason | null;
  readonly last_reply: string | null;
  readonly parked: number;
}

/** Returns the destinations on hold. Served by holds_in_force. */
export async function heldDestinations(
  sql: Sql,
): Promise<{ readonly id: string; readonly destination: string; readonly expires_at: Date }[]> {
  return sql`
    select h.id, h.value as destination, h.expires_at from holds h
    where h.ended_at is null and h.scope = 'destination' and h.expires_at > clock_now()
    order by h.value`;
}

/** Returns lanes that are closed or have parked messages, with the number of parked messages, counted up to a limit. */
export async function laneSummaries(sql: Sql, max_counted: number): Promise<LaneSummary[]> {
  return sql<LaneSummary[]>`
    with recursive ${parkedLanes(sql, '', LANES_PER_POLL)},
    named as (
      select lane from walk
      union (select lane from lanes where closed_until > clock_now() order by lane limit ${LANES_PER_POLL})
    )
    select n.lane, l.closed_until, l.reason, l.last_reply, c.parked
    from named n
    left join lanes l on l.lane = n.lane and l.closed_until > clock_now()
    cross join lateral (
      select count(*)::int as parked from (select from parked_deliveries p where p.lane = n.lane limit ${max_counted}) p
    ) c
    order by n.lane`;
}
