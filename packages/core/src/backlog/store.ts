import type { Fragment, Sql, Tx } from '@postrider/db';
import { WHOLE_INSTANCE } from '../reach.ts';

export const backlogDimensions = ['destination', 'provider', 'sender_domain', 'api_key', 'tag'] as const;
export type BacklogDimension = (typeof backlogDimensions)[number];

/** What one count tells of. Recipients know where they are sent to; who sent them only their messages know. */
export type BacklogPart = 'recipients' | 'messages';
export const partOf: Record<BacklogDimension, BacklogPart> = {
  destination: 'recipients',
  provider: 'recipients',
  sender_domain: 'messages',
  api_key: 'messages',
  tag: 'messages',
};
/** The row of everything, beside those of a part's dimensions. */
const totalOf: Record<BacklogPart, string> = { recipients: 'all_recipients', messages: 'all_messages' };

/** The upper ends of the age buckets, in minutes; the last bucket has none. */
export const BUCKET_MINUTES = [5, 10, 20, 40, 80, 160, 320, 640];
const BUCKETS = BUCKET_MINUTES.length + 1;

/** Of each workspace and dimension so many keys are kept, those with the most that waits. */
export const MOST_KEYS = 100;

export interface CountedRow {
  readonly key: string;
  readonly total: number;
  readonly counts: readonly number[];
  readonly oldest_at: Date | null;
  readonly answered_message_id: string | null;
  readonly waiting_job_id: string | null;
}

export interface Counted {
  readonly measured_at: Date;
  readonly total: CountedRow;
  readonly rows: readonly CountedRow[];
}

/**
 * Open recipients, but for those that are scheduled for later. Their age begins when they were due for the first time;
 * a retry moves due_at, so that what has been tried counts from its first attempt. Served by recipients_open.
 */
const open = (sql: Sql | Tx) => sql`
  r.state in ('scheduled', 'queued', 'deferred', 'sending') and (r.state <> 'scheduled' or r.due_at <= n.at)`;

/** Groups of what is open, by workspace, by what the part's dimensions are made of, and by age bucket. */
function groups(sql: Sql | Tx, part: BacklogPart, workspace_id: string | null): Fragment {
  const mine = workspace_id === null ? sql`` : sql`and r.workspace_id = ${workspace_id}`;
  const measures = sql`
    width_bucket(extract(epoch from n.at - least(r.due_at, r.first_attempt_at))::float8 / 60, ${BUCKET_MINUTES}::float8[]) as bucket,
    count(*)::int as n, min(least(r.due_at, r.first_attempt_at)) as oldest_at,
    max(r.message_id) filter (where r.last_response is not null) as answered_message_id,
    min(r.job_id::text) as waiting_job_id`;
  if (part === 'recipients') {
    return sql`
      select g.*, p.provider from (
        select r.workspace_id, r.domain as destination, ${measures}
        from (select clock_now() as at) n cross join recipients r
        where ${open(sql)} ${mine}
        group by 1, 2, 3
      ) g
      left join provider_domains p on p.domain = g.destination`;
  }
  return sql`
    select r.workspace_id, m.from_domain, coalesce(m.api_key_id, '') as api_key_id, m.tags, ${measures}
    from (select clock_now() as at) n cross join recipients r
    cross join lateral (
      select x.from_domain, x.api_key_id, x.tags from messages x
      where x.workspace_id = r.workspace_id and x.id = r.message_id offset 0
    ) m
    where ${open(sql)} ${mine}
    group by 1, 2, 3, 4, 5`;
}

const keysOf = (sql: Sql | Tx, part: BacklogPart) =>
  part === 'recipients'
    ? sql`values ('destination', g.destination), ('provider', g.provider), (${totalOf.recipients}, '')`
    : sql`values ('sender_domain', g.from_domain), ('api_key', g.api_key_id), (${totalOf.messages}, '')
        union all select 'tag', t.tag from unnest(g.tags) as t (tag)`;

/** The rows of a part's dimensions, of each workspace and of the instance, each with its place by how much waits. */
function counted(sql: Sql | Tx, part: BacklogPart, workspace_id: string | null): Fragment {
  const sums = Array.from(
    { length: BUCKETS },
    (_, bucket) => sql`coalesce(sum(g.n) filter (where g.bucket = ${bucket}), 0)::int`,
  ).reduce((list, one) => sql`${list}, ${one}`);
  const spread =
    workspace_id === null ? sql`values (g.workspace_id), (${WHOLE_INSTANCE})` : sql`values (g.workspace_id)`;
  return sql`
    with g as materialized (${groups(sql, part, workspace_id)})
    select *, row_number() over (partition by workspace_id, dimension order by total desc, key) as place
    from (
      select s.workspace_id, d.dimension, d.key, sum(g.n)::int as total, array[${sums}] as counts,
        min(g.oldest_at) as oldest_at, max(g.answered_message_id) as answered_message_id,
        min(g.waiting_job_id)::uuid as waiting_job_id
      from g
      cross join lateral (${spread}) as s (workspace_id)
      cross join lateral (${keysOf(sql, part)}) as d (dimension, key)
      -- A tag that nobody set, a provider that is not known: what has no key has no row, and is in the total.
      where d.key is not null and (d.key <> '' or d.dimension in ('all_recipients', 'all_messages'))
      group by 1, 2, 3
    ) c`;
}

/** Whether so few are open that a reader may count them itself. Served by recipients_open. */
export async function isSmall(sql: Sql, most: number): Promise<boolean> {
  const [row] = await sql<{ count: number }[]>`
    select count(*)::int as count from (
      select from recipients where state in ('scheduled', 'queued', 'deferred', 'sending') limit ${most + 1}
    ) r`;
  return (row?.count ?? 0) <= most;
}

/** Counts now what is open, in one workspace or everywhere. */
export async function countNow(
  tx: Tx,
  dimension: BacklogDimension,
  workspace_id: string,
  top: number,
): Promise<Counted> {
  const part = partOf[dimension];
  const only = workspace_id === WHOLE_INSTANCE ? null : workspace_id;
  const rows = await tx<(CountedRow & { dimension: string })[]>`
    select dimension, key, total, counts, oldest_at, answered_message_id, waiting_job_id
    from (${counted(tx, part, only)}) c
    where workspace_id = ${workspace_id} and dimension in (${dimension}, ${totalOf[part]}) and place <= ${top}
    order by place`;
  const [now] = await tx<{ at: Date }[]>`select clock_now() as at`;
  return withTotal(rows, part, now?.at);
}

/** What was counted last; null where nobody has yet. Served by the primary key. */
export async function lastCount(
  sql: Sql,
  dimension: BacklogDimension,
  workspace_id: string,
  top: number,
): Promise<Counted | null> {
  const part = partOf[dimension];
  const rows = await sql<(Partial<CountedRow> & { dimension: string | null; measured_at: Date })[]>`
    select s.measured_at, b.* from backlog_snapshots s
    left join lateral (
      select dimension, key, total, counts, oldest_at, answered_message_id, waiting_job_id
      from backlog_rows b
      where b.workspace_id = ${workspace_id} and b.dimension in (${dimension}, ${totalOf[part]})
      -- The total first.
      order by b.dimension = ${dimension}, b.total desc, b.key limit ${top + 1}
    ) b on true
    where s.part = ${part} and s.measured_at is not null`;
  const [first] = rows;
  if (!first) return null;
  return withTotal(
    // The left join leaves one row without a key where nothing is open.
    rows.filter((row): row is CountedRow & { dimension: string; measured_at: Date } => row.dimension !== null),
    part,
    first.measured_at,
  );
}

function withTotal(
  rows: readonly (CountedRow & { readonly dimension: string })[],
  part: BacklogPart,
  measured_at: Date | undefined,
): Counted {
  if (!measured_at) throw new Error('the database told no time');
  const nothing = {
    key: '',
    total: 0,
    counts: BUCKETS_OF_NONE,
    oldest_at: null,
    answered_message_id: null,
    waiting_job_id: null,
  };
  return {
    measured_at,
    total: rows.find((row) => row.dimension === totalOf[part]) ?? nothing,
    rows: rows.filter((row) => row.dimension !== totalOf[part]),
  };
}

const BUCKETS_OF_NONE: readonly number[] = Array.from({ length: BUCKETS }, () => 0);

/** Takes it upon this worker to count a part; false while another does, or where it is not due. */
export async function takeCount(sql: Sql, part: BacklogPart, lease_seconds: number): Promise<boolean> {
  const rows = await sql`
    insert into backlog_snapshots as s (part, next_at) values (${part}, clock_now() + make_interval(secs => ${lease_seconds}))
    on conflict (part) do update set next_at = excluded.next_at where s.next_at <= clock_now()
    returning part`;
  return rows.length > 0;
}

/** Replaces what was counted of a part. */
export async function storeCount(tx: Tx, part: BacklogPart): Promise<void> {
  const dimensions = [...backlogDimensions.filter((dimension) => partOf[dimension] === part), totalOf[part]];
  await tx`delete from backlog_rows where dimension = any (${dimensions}::text[])`;
  await tx`
    insert into backlog_rows (workspace_id, dimension, key, total, counts, oldest_at, answered_message_id, waiting_job_id)
    select workspace_id, dimension, key, total, counts, oldest_at, answered_message_id, waiting_job_id
    from (${counted(tx, part, null)}) c
    where place <= ${MOST_KEYS}`;
  await tx`update backlog_snapshots set measured_at = clock_now() where part = ${part}`;
}

export async function countAgainIn(sql: Sql, part: BacklogPart, seconds: number): Promise<void> {
  await sql`update backlog_snapshots set next_at = clock_now() + make_interval(secs => ${seconds}) where part = ${part}`;
}

/** What a row of a backlog is read beside. */
export interface RowFacts {
  readonly key: string;
  readonly last_reply: string | null;
  readonly last_success_at: Date | null;
  readonly closed_until: Date | null;
  readonly closed_reason: 'failing' | 'limit' | null;
}

/**
 * Looks up what belongs to some rows, each by a few primary keys: the reply to the newest mail that has one, the last
 * delivery, and whether the lane of the destination, or the one that a mail to it is parked in, is closed.
 */
export async function factsOf(
  sql: Sql,
  dimension: BacklogDimension,
  workspace_id: string,
  rows: readonly CountedRow[],
): Promise<Map<string, RowFacts>> {
  const found = await sql<RowFacts[]>`
    select a.key, r.last_response as last_reply, s.at as last_success_at, l.closed_until, l.reason as closed_reason
    from unnest(
      ${rows.map((row) => row.key)}::text[],
      ${rows.map((row) => row.answered_message_id)}::text[],
      ${rows.map((row) => row.waiting_job_id)}::uuid[]
    ) as a (key, message_id, job_id)
    left join lateral (
      select x.last_response from recipients x
      where x.message_id = a.message_id and x.last_response is not null
        and x.state in ('scheduled', 'queued', 'deferred', 'sending')
        and (${dimension} <> 'destination' or x.domain = a.key)
      limit 1
    ) r on true
    left join lateral (
      select max(x.at) as at from last_successes x
      where x.dimension = ${dimension} and x.key = a.key
        and (${workspace_id} = ${WHOLE_INSTANCE} or x.workspace_id = ${workspace_id})
    ) s on true
    left join lateral (
      select x.closed_until, x.reason from lanes x
      where ${dimension} = 'destination' and x.closed_until > clock_now()
        and x.lane = any (array[a.key, (select p.lane from parked_deliveries p where p.job_id = a.job_id)])
      order by x.closed_until desc limit 1
    ) l on true`;
  return new Map(found.map((row) => [row.key, row]));
}
