import { apart, type Fragment, fence, type Sql, type Tx } from '@postrider/db';
import type { ClosedReason } from '../lanes/index.ts';
import { INSTANCE } from '../operation/access.ts';
import { openInSql } from '../states/index.ts';
import { DEFAULT_TRANSPORT, transportInLane } from '../transports/index.ts';

export const backlogDimensions = ['destination', 'provider', 'sender_domain', 'api_key', 'tag', 'transport'] as const;
export type BacklogDimension = (typeof backlogDimensions)[number];

/**
 * The dimensions of one count. Recipients store their destination; the sender is stored only on their messages, and
 * the transport only on parked email and attempts.
 */
export const backlogParts = ['recipients', 'messages', 'transports'] as const;
export type BacklogPart = (typeof backlogParts)[number];
export const partOf: Record<BacklogDimension, BacklogPart> = {
  destination: 'recipients',
  provider: 'recipients',
  sender_domain: 'messages',
  api_key: 'messages',
  tag: 'messages',
  transport: 'transports',
};
/** Key of the total, stored next to the rows of the dimensions. */
const totalOf: Record<BacklogPart, string> = {
  recipients: 'all_recipients',
  messages: 'all_messages',
  transports: 'all_transports',
};

/** Upper bounds of the age buckets, in minutes; the last is unbounded. */
export const BUCKET_MINUTES = [5, 10, 20, 40, 80, 160, 320, 640];
const BUCKETS = BUCKET_MINUTES.length + 1;

/** Per workspace and dimension, only the keys with the largest backlog are stored. */
export const MAX_KEYS = 100;

export interface CountedRow {
  readonly key: string;
  readonly total: number;
  readonly counts: readonly number[];
  readonly oldest_at: Date | null;
  readonly answered_message_id: string | null;
  readonly oldest_message_id: string | null;
}

export interface BacklogCount {
  readonly measured_at: Date;
  readonly total: CountedRow;
  readonly rows: readonly CountedRow[];
}

/** Returns the counts of a group per age bucket. */
function bucketCounts(sql: Sql | Tx, since: Fragment): Fragment {
  const older = (minutes: number | undefined) => sql`n.at - make_interval(mins => ${minutes ?? 0})`;
  const counts = Array.from({ length: BUCKETS }, (_, bucket) => {
    const recent = bucket === 0 ? sql`true` : sql`${since} <= ${older(BUCKET_MINUTES[bucket - 1])}`;
    const old = bucket === BUCKETS - 1 ? sql`true` : sql`${since} > ${older(BUCKET_MINUTES[bucket])}`;
    return sql`count(*) filter (where ${recent} and ${old})::int`;
  });
  return sql`array[${counts.reduce((list, one) => sql`${list}, ${one}`)}]`;
}

/** Aggregates ids as text, which sorts the same: uuid aggregates take ten times as long. */
const firstId = (sql: Sql | Tx, id: Fragment) => sql`min(${id}::text collate "C")`;
const lastId = (sql: Sql | Tx, id: Fragment) => sql`max(${id}::text collate "C")`;

/**
 * Groups open recipients by workspace and the dimensions of a part. Scheduled messages do not count. Age starts when a
 * recipient was first due; a retry moves due_at, so a tried recipient counts from its first attempt.
 *
 * Recipients are served by recipients_open. Their messages are read by messages_status, because a million single
 * lookups take four times as long; the row of a single-recipient message has everything. If the message is known, the
 * state of its recipients is part of the condition, or the planner may walk recipients_open for it.
 */
function groups(sql: Sql | Tx, part: BacklogPart, workspace_id: string | null): Fragment {
  if (part === 'transports') return transportGroups(sql, workspace_id);
  if (part === 'recipients') {
    const since = sql`least(r.due_at, r.first_attempt_at)`;
    return sql`
      select g.*, p.provider from (
        select r.workspace_id, r.domain as destination, ${bucketCounts(sql, since)} as counts, count(*)::int as n,
          min(${since}) as oldest_at, ${lastId(sql, sql`r.message_id`)} filter (where r.last_response is not null) as answered_message_id,
          ${firstId(sql, sql`r.message_id`)} as oldest_message_id
        from (select clock_now() as at) n cross join recipients r
        where r.is_open and (r.state <> 'scheduled' or r.due_at <= n.at)
          ${workspace_id === null ? sql`` : sql`and r.workspace_id = ${workspace_id}`}
        group by 1, 2
      ) g
      left join provider_domains p on p.domain = g.destination`;
  }
  // All workspaces in one index scan: their rows share pages, so each page is read once.
  const messages = sql`
    uuid_hash(m.workspace_id) = any (array(
      select uuid_hash(id) from workspaces ${workspace_id === null ? sql`` : sql`where id = ${workspace_id}`}
    )) and ${workspace_id === null ? sql`true` : apart(sql, sql`m.workspace_id`, workspace_id)} and m.status = any ('{scheduled,queued,deferred,sending}'::delivery_state[]) and m.status is not null`;
  const measures = (since: Fragment) => sql`
    m.workspace_id, m.from_domain, m.api_key_id, m.tags, ${bucketCounts(sql, since)} as counts,
    count(*)::int as n, min(${since}) as oldest_at,
    ${lastId(sql, sql`m.id`)} filter (where m.sent_at is not null) as answered_message_id,
    ${firstId(sql, sql`m.id`)} as oldest_message_id`;
  return sql`
    select ${measures(sql`coalesce(m.sent_at, m.scheduled_at, m.created_at)`)}
    from (select clock_now() as at) n cross join messages m
    where ${messages} and m.recipient_count = 1 and (m.status <> 'scheduled' or m.scheduled_at <= n.at)
    group by 1, 2, 3, 4
    union all
    select ${measures(sql`least(y.due_at, y.first_attempt_at)`)}
    from (select clock_now() as at) n cross join messages m
    cross join lateral (
      select z.due_at, z.first_attempt_at from recipients z
      where z.message_id = m.id and z.workspace_id = m.workspace_id
        and z.state in (${openInSql}) and (z.state <> 'scheduled' or z.due_at <= n.at)
      ${fence}
    ) y
    where ${messages} and m.recipient_count > 1
    group by 1, 2, 3, 4`;
}

/**
 * Groups open recipients by the transport that they wait for: that of the lane in which they are parked, otherwise that
 * of their last attempt. Email that is neither parked nor attempted has no transport yet, because a worker chooses one
 * when it fetches the email.
 *
 * Parked email and attempts are read by their primary keys, and attempts only for email that is not parked in a lane.
 */
function transportGroups(sql: Sql | Tx, workspace_id: string | null): Fragment {
  const since = sql`least(r.due_at, r.first_attempt_at)`;
  return sql`
    select g.*, case
      when g.lane_transport is not null then g.lane_transport
      when g.last_transport_id = no_id() then ${DEFAULT_TRANSPORT}
      else id_text(g.last_transport_id)
    end as transport
    from (
      select r.workspace_id,
        case when p.lane is not null then ${transportInLane(sql, sql`p.lane`)} end as lane_transport,
        case when p.lane is null and r.first_attempt_at is not null then (
          select coalesce(x.transport_id, no_id()) from attempts x
          where x.message_id = r.message_id and x.workspace_id = r.workspace_id and x.recipient_id = r.id
          order by x.number desc limit 1
        ) end as last_transport_id,
        ${bucketCounts(sql, since)} as counts, count(*)::int as n, min(${since}) as oldest_at,
        ${lastId(sql, sql`r.message_id`)} filter (where r.last_response is not null) as answered_message_id,
        ${firstId(sql, sql`r.message_id`)} as oldest_message_id
      from (select clock_now() as at) n cross join recipients r
      -- The lane of a hold says nothing about the transport.
      left join lateral (
        select x.lane from parked_deliveries x where x.job_id = r.job_id and x.lane not like 'held %' ${fence}
      ) p on true
      where r.is_open and (r.state <> 'scheduled' or r.due_at <= n.at)
        ${workspace_id === null ? sql`` : sql`and r.workspace_id = ${workspace_id}`}
      group by 1, 2, 3
    ) g`;
}

function keysOf(sql: Sql | Tx, part: BacklogPart): Fragment {
  switch (part) {
    case 'recipients':
      return sql`values ('destination', g.destination), ('provider', g.provider), (${totalOf.recipients}, '')`;
    case 'transports':
      return sql`values ('transport', g.transport), (${totalOf.transports}, '')`;
    case 'messages':
      return sql`
        values ('sender_domain', g.from_domain), ('api_key', coalesce(id_text(g.api_key_id), '')), (${totalOf.messages}, '')
        union all select 'tag', t.tag from unnest(g.tags) as t (tag)`;
  }
}

/** Returns the rows of a part's dimensions, per workspace and for the instance, ranked by size. */
function countsOf(sql: Sql | Tx, part: BacklogPart, workspace_id: string | null): Fragment {
  const sums = Array.from({ length: BUCKETS }, (_, bucket) => sql`sum(g.counts[${bucket + 1}::int])::int`).reduce(
    (list, one) => sql`${list}, ${one}`,
  );
  const merged = sql`sum(g.n)::int as n, array[${sums}] as counts, min(g.oldest_at) as oldest_at,
    max(g.answered_message_id) as answered_message_id, min(g.oldest_message_id) as oldest_message_id`;
  return sql`
    with g as materialized (${groups(sql, part, workspace_id)}),
    mine as materialized (
      select g.workspace_id, d.dimension, d.key, ${merged}
      from g cross join lateral (${keysOf(sql, part)}) as d (dimension, key)
      -- Rows without a key, such as an unknown provider, count in the total only.
      where d.key is not null and (d.key <> '' or d.dimension = any (${Object.values(totalOf)}::text[]))
      group by 1, 2, 3
    ),
    everybody as (
      select no_id() as workspace_id, g.dimension, g.key, ${merged} from mine g
      where ${workspace_id === null}
      group by 2, 3
    )
    select workspace_id, dimension, key, n as total, counts, oldest_at, answered_message_id::uuid as answered_message_id,
      oldest_message_id::uuid as oldest_message_id, row_number() over (partition by workspace_id, dimension order by n desc, key) as place
    from (select * from mine union all select * from everybody) c`;
}

/** Returns whether few enough recipients are open to count on request. Served by recipients_open. */
export async function isSmall(sql: Sql, max: number): Promise<boolean> {
  const [row] = await sql<{ count: number }[]>`
    select count(*)::int as count from (
      select from recipients where is_open limit ${max + 1}
    ) r`;
  return (row?.count ?? 0) <= max;
}

/** Counts open recipients now, in one workspace or everywhere. */
export async function countNow(
  tx: Tx,
  dimension: BacklogDimension,
  workspace_id: string,
  top: number,
): Promise<BacklogCount> {
  const part = partOf[dimension];
  const workspace_filter = workspace_id === INSTANCE ? null : workspace_id;
  const rows = await tx<(CountedRow & { dimension: string })[]>`
    select dimension, key, total, counts, oldest_at, answered_message_id, oldest_message_id
    from (${countsOf(tx, part, workspace_filter)}) c
    where workspace_id = ${workspace_id} and dimension in (${dimension}, ${totalOf[part]}) and place <= ${top}
    order by place`;
  const [now] = await tx<{ at: Date }[]>`select clock_now() as at`;
  return withTotal(rows, part, now?.at);
}

/** Returns the latest count; null if there is none yet. Served by the primary key. */
export async function lastCount(
  sql: Sql,
  dimension: BacklogDimension,
  workspace_id: string,
  top: number,
): Promise<BacklogCount | null> {
  const part = partOf[dimension];
  const rows = await sql<(Partial<CountedRow> & { dimension: string | null; measured_at: Date })[]>`
    select s.measured_at, b.* from backlog_snapshots s
    left join lateral (
      select dimension, key, total, counts, oldest_at, answered_message_id, oldest_message_id
      from backlog_rows b
      where b.workspace_id = ${workspace_id} and b.dimension in (${dimension}, ${totalOf[part]})
      -- The total first.
      order by b.dimension = ${dimension}, b.total desc, b.key limit ${top + 1}
    ) b on true
    where s.part = ${part} and s.measured_at is not null`;
  const [first] = rows;
  if (!first) return null;
  return withTotal(
    // The left join yields one row without a key if nothing is open.
    rows.filter((row): row is CountedRow & { dimension: string; measured_at: Date } => row.dimension !== null),
    part,
    first.measured_at,
  );
}

function withTotal(
  rows: readonly (CountedRow & { readonly dimension: string })[],
  part: BacklogPart,
  measured_at: Date | undefined,
): BacklogCount {
  if (!measured_at) throw new Error('no current time from the database');
  const empty_row = {
    key: '',
    total: 0,
    counts: EMPTY_BUCKETS,
    oldest_at: null,
    answered_message_id: null,
    oldest_message_id: null,
  };
  return {
    measured_at,
    total: rows.find((row) => row.dimension === totalOf[part]) ?? empty_row,
    rows: rows.filter((row) => row.dimension !== totalOf[part]),
  };
}

const EMPTY_BUCKETS: readonly number[] = Array.from({ length: BUCKETS }, () => 0);

/**
 * Claims the count of a part for this worker; returns false if another worker has claimed it or the count is not due.
 */
export async function takeCount(sql: Sql, part: BacklogPart, lease_seconds: number): Promise<boolean> {
  const rows = await sql`
    insert into backlog_snapshots as s (part, next_at) values (${part}, clock_now() + make_interval(secs => ${lease_seconds}))
    on conflict (part) do update set next_at = excluded.next_at where s.next_at <= clock_now()
    returning part`;
  return rows.length > 0;
}

/** Replaces the stored count of a part. */
export async function storeCount(tx: Tx, part: BacklogPart): Promise<void> {
  const dimensions = [...backlogDimensions.filter((dimension) => partOf[dimension] === part), totalOf[part]];
  await tx`delete from backlog_rows where dimension = any (${dimensions}::text[])`;
  await tx`
    insert into backlog_rows (workspace_id, dimension, key, total, counts, oldest_at, answered_message_id, oldest_message_id)
    select workspace_id, dimension, key, total, counts, oldest_at, answered_message_id, oldest_message_id
    from (${countsOf(tx, part, null)}) c
    where place <= ${MAX_KEYS}`;
  await tx`update backlog_snapshots set measured_at = clock_now() where part = ${part}`;
}

export async function scheduleCount(sql: Sql, part: BacklogPart, seconds: number): Promise<void> {
  await sql`update backlog_snapshots set next_at = clock_now() + make_interval(secs => ${seconds}) where part = ${part}`;
}

/** Context shown next to a backlog row. */
export interface RowFacts {
  readonly key: string;
  readonly last_reply: string | null;
  readonly last_success_at: Date | null;
  readonly closed_until: Date | null;
  readonly closed_reason: ClosedReason | null;
  readonly hold_id: string | null;
  readonly hold_reason: string | null;
  readonly hold_expires_at: Date | null;
}

/**
 * Returns the context of each row with a few primary-key lookups: the reply to the newest message that has one, the
 * last delivery, and whether the destination's lane, or the lane in which its messages are parked, is closed.
 */
export async function factsOf(
  sql: Sql,
  dimension: BacklogDimension,
  workspace_id: string,
  rows: readonly CountedRow[],
): Promise<Map<string, RowFacts>> {
  const facts = await sql<RowFacts[]>`
    select a.key, r.last_response as last_reply, s.at as last_success_at, l.closed_until, l.reason as closed_reason,
      h.id as hold_id, h.reason as hold_reason, h.expires_at as hold_expires_at
    from unnest(
      ${rows.map((row) => row.key)}::text[],
      ${rows.map((row) => row.answered_message_id)}::uuid[],
      ${rows.map((row) => row.oldest_message_id)}::uuid[]
    ) as a (key, message_id, oldest_message_id)
    left join lateral (
      select x.last_response from recipients x
      where x.message_id = a.message_id and x.last_response is not null
        and x.state in (${openInSql})
        and (${dimension} <> 'destination' or x.domain = a.key)
      limit 1
    ) r on true
    left join lateral (
      select max(x.at) as at from last_successes x
      where x.dimension = ${dimension} and x.key = a.key
        and (${workspace_id}::uuid = no_id() or x.workspace_id = ${workspace_id})
    ) s on true
    left join lateral (
      select x.closed_until, x.reason from lanes x
      where ${dimension} = 'destination' and x.closed_until > clock_now()
        and x.lane = any (array[a.key, (
          select p.lane from recipients y join parked_deliveries p on p.job_id = y.job_id
          where y.message_id = a.oldest_message_id and y.domain = a.key limit 1
        )])
      order by x.closed_until desc limit 1
    ) l on true
    left join lateral (
      select x.id, x.reason, x.expires_at from holds x
      where x.scope = ${dimension} and case ${dimension} when 'api_key' then x.value_id = id_of(a.key) else x.value = a.key end and x.ended_at is null and x.expires_at > clock_now()
        and (x.workspace_id = no_id() or ${workspace_id}::uuid in (no_id(), x.workspace_id))
      order by x.workspace_id, x.id limit 1
    ) h on true`;
  return new Map(facts.map((row) => [row.key, row]));
}
