import { fence, listOf, type Sql, type Tx } from '@postrider/db';
import { idFloor } from '../fields/ids.ts';
import { MINUTE_MS } from '../stats/index.ts';
import { type FailureKind, failureKinds } from './signature.ts';

const MAX_DESTINATIONS = 20;
const MAX_REPLY_LENGTH = 1000;

/** Identical failures within one minute. */
export interface FailuresSeen {
  readonly workspace_id: string;
  readonly at: Date;
  readonly destination: string;
  readonly said: string;
  readonly count: number;
  readonly first_at: Date;
  readonly last_at: Date;
}

/**
 * Returns failed attempts and later bounces, by the times in their event ids. Served by events_uncommon, one scan per
 * workspace and type; recipients are read by primary key.
 */
export async function failedDeliveries(tx: Tx, from: Date, to: Date): Promise<FailuresSeen[]> {
  const floors = Array.from({ length: (to.getTime() - from.getTime()) / MINUTE_MS + 1 }, (_, index) =>
    idFloor('event', from.getTime() + index * MINUTE_MS),
  );
  return tx<FailuresSeen[]>`
    select e.workspace_id, ${from}::timestamptz + (e.minute - 1) * interval '1 minute' as at, r.domain as destination,
      e.said, count(*)::int as count, min(e.created_at) as first_at, max(e.created_at) as last_at
    from (
      select x.*, width_bucket(x.id, ${floors}::uuid[]) as minute,
        left(coalesce(x.facts::json ->> 'response', 'no reply'), ${MAX_REPLY_LENGTH}) as said
      from workspaces w
      cross join unnest('{email.delivery_delayed,email.bounced,email.failed}'::text[]) as t (type)
      cross join lateral (
        select e.workspace_id, e.id, e.message_id, e.recipient_id, e.facts, e.created_at from events e
        where ${listOf(tx, tx`e.workspace_id`, tx`w.id`)} and e.type = t.type
          and e.type not in ('email.queued', 'email.delivered')
          and e.id >= ${floors[0] ?? ''} and e.id < ${floors.at(-1) ?? ''}
        ${fence}
      ) x
    ) e
    cross join lateral (
      select y.domain from recipients y
      where y.message_id = e.message_id and y.id = e.recipient_id and y.workspace_id = e.workspace_id ${fence}
    ) r
    group by 1, 2, 3, 4`;
}

/** Returns webhook deliveries whose last post failed in the range. Served by webhook_deliveries_failing. */
export async function failedPosts(tx: Tx, from: Date, to: Date): Promise<FailuresSeen[]> {
  return tx<FailuresSeen[]>`
    select d.workspace_id, date_trunc('minute', d.last_attempt_at, 'UTC') as at,
      coalesce(substring(w.url from '^https?://([^/?#]+)'), '') as destination,
      coalesce(d.error, d.response_status::text) as said, count(*)::int as count,
      min(d.last_attempt_at) as first_at, max(d.last_attempt_at) as last_at
    from webhook_deliveries d
    left join webhooks w on w.id = d.webhook_id
    where d.last_attempt_at >= ${from} and d.last_attempt_at < ${to}
      and (d.response_status is null or d.response_status < 200 or d.response_status > 299)
    group by 1, 2, 3, 4`;
}

/** Returns failed job runs in the range; they belong to the instance. Served by the index on their start. */
export async function failedJobs(tx: Tx, from: Date, to: Date): Promise<FailuresSeen[]> {
  return tx<FailuresSeen[]>`
    select no_id() as workspace_id, date_trunc('minute', started_at, 'UTC') as at, queue as destination,
      left(concat_ws(': ', error_name, error_message), ${MAX_REPLY_LENGTH}) as said, count(*)::int as count,
      min(started_at) as first_at, max(started_at) as last_at
    from job_attempts
    where started_at >= ${from} and started_at < ${to} and (error_name is not null or error_message is not null)
    group by 1, 2, 3, 4`;
}

export interface CountedGroup {
  readonly workspace_id: string;
  readonly kind: FailureKind;
  readonly at: Date;
  readonly group_id: string;
  readonly destination: string;
  readonly count: number;
}

export interface KnownGroup {
  readonly workspace_id: string;
  readonly id: string;
  readonly kind: FailureKind;
  readonly signature: string;
  readonly code: number | null;
  readonly enhanced_code: string | null;
  readonly sample: string;
  readonly first_seen_at: Date;
  readonly last_seen_at: Date;
}

/**
 * Replaces the counts of a range of minutes. Only the last attempt of a webhook delivery is stored, so a later count of
 * the same minute finds fewer failures, and the higher count is kept.
 */
export async function replaceFailures(
  tx: Tx,
  from: Date,
  to: Date,
  counts: readonly CountedGroup[],
  groups: readonly KnownGroup[],
): Promise<void> {
  await tx`delete from failure_minutes where at >= ${from} and at < ${to} and kind <> 'webhook'`;
  await tx`
    insert into failure_minutes as f (workspace_id, kind, at, group_id, destination, count)
    select * from unnest(
      ${counts.map((row) => row.workspace_id)}::uuid[],
      ${counts.map((row) => row.kind)}::text[],
      ${counts.map((row) => row.at.toISOString())}::text[]::timestamptz[],
      ${counts.map((row) => row.group_id)}::text[],
      ${counts.map((row) => row.destination)}::text[],
      ${counts.map((row) => row.count)}::int[]
    )
    on conflict (workspace_id, kind, at, group_id, destination) do update set count = greatest(f.count, excluded.count)`;
  await tx`
    insert into failure_groups as g (workspace_id, id, kind, signature, code, enhanced_code, sample, first_seen_at, last_seen_at)
    select * from unnest(
      ${groups.map((group) => group.workspace_id)}::uuid[],
      ${groups.map((group) => group.id)}::text[],
      ${groups.map((group) => group.kind)}::text[],
      ${groups.map((group) => group.signature)}::text[],
      ${groups.map((group) => group.code)}::int[],
      ${groups.map((group) => group.enhanced_code)}::text[],
      ${groups.map((group) => group.sample)}::text[],
      ${groups.map((group) => group.first_seen_at.toISOString())}::text[]::timestamptz[],
      ${groups.map((group) => group.last_seen_at.toISOString())}::text[]::timestamptz[]
    )
    on conflict (workspace_id, id) do update set
      first_seen_at = least(g.first_seen_at, excluded.first_seen_at),
      last_seen_at = greatest(g.last_seen_at, excluded.last_seen_at),
      sample = case when excluded.last_seen_at > g.last_seen_at then excluded.sample else g.sample end`;
  const first = tx`date_trunc('hour', ${from}::timestamptz, 'UTC')`;
  const end = tx`date_trunc('hour', ${to}::timestamptz - interval '1 microsecond', 'UTC') + interval '1 hour'`;
  await tx`delete from failure_hours where at >= ${first} and at < ${end}`;
  await tx`
    insert into failure_hours (workspace_id, kind, at, group_id, destination, count)
    select workspace_id, kind, at, group_id, case when place <= ${MAX_DESTINATIONS} then destination else '' end, sum(n)
    from (
      select *, row_number() over (
        partition by workspace_id, kind, at, group_id order by destination = '', n desc, destination) as place
      from (
        select workspace_id, kind, date_trunc('hour', at, 'UTC') as at, group_id, destination, sum(count)::int as n
        from failure_minutes where at >= ${first} and at < ${end} group by 1, 2, 3, 4, 5
      ) h
    ) h
    group by 1, 2, 3, 4, 5`;
}

/** Deletes expired rows, except minutes whose hour is not final yet. */
export async function forgetFailures(
  sql: Sql | Tx,
  limits: { readonly minute_days: number; readonly hour_days: number },
): Promise<void> {
  await sql`
    delete from failure_minutes where at < least(
      clock_now() - make_interval(days => ${limits.minute_days}),
      (select date_trunc('hour', final_until, 'UTC') from roll_ups where name = 'failures')
    )`;
  await sql`delete from failure_hours where at < clock_now() - make_interval(days => ${limits.hour_days})`;
  await sql`delete from failure_groups where last_seen_at < clock_now() - make_interval(days => ${limits.hour_days})`;
}

export interface FailureQuery {
  readonly workspace_id: string;
  /** Null means all kinds; an id has one kind. */
  readonly kind: FailureKind | null;
  readonly from: Date;
  readonly to: Date;
  /** Bucket size of the trend; minutes have a separate table. */
  readonly bucket: 'minute' | 'hour' | 'day';
}

const kindsOf = ({ kind }: FailureQuery): readonly FailureKind[] => (kind === null ? failureKinds : [kind]);
const source = (bucket: FailureQuery['bucket']) => (bucket === 'minute' ? 'failure_minutes' : 'failure_hours');

export type TopGroup = Omit<KnownGroup, 'workspace_id' | 'kind'> & { readonly count: number };

/** Returns the most frequent groups in a range. Served by the primary keys. */
export async function topGroups(sql: Sql, filter: FailureQuery, top: number): Promise<TopGroup[]> {
  return sql<TopGroup[]>`
    select t.id, g.signature, g.code, g.enhanced_code, g.sample, t.count, g.first_seen_at, g.last_seen_at
    from (
      select group_id as id, sum(count)::int as count from ${sql(source(filter.bucket))}
      where workspace_id = ${filter.workspace_id} and kind = any (${[...kindsOf(filter)]}::text[]) and at >= ${filter.from} and at < ${filter.to}
      group by group_id order by 2 desc, 1 limit ${top}
    ) t
    join failure_groups g on g.workspace_id = ${filter.workspace_id} and g.id = t.id
    order by t.count desc, t.id`;
}

/**
 * Returns the groups with these ids, each with its count in the range; unknown ids are omitted. Served by the primary
 * keys.
 */
export async function knownGroups(
  sql: Sql,
  filter: FailureQuery,
  ids: readonly string[],
): Promise<(TopGroup & { readonly kind: FailureKind })[]> {
  return sql<(TopGroup & { kind: FailureKind })[]>`
    select g.id, g.kind, g.signature, g.code, g.enhanced_code, g.sample, g.first_seen_at, g.last_seen_at, (
      select coalesce(sum(f.count), 0)::int from ${sql(source(filter.bucket))} f
      where f.workspace_id = g.workspace_id and f.kind = g.kind and f.at >= ${filter.from} and f.at < ${filter.to}
        and f.group_id = g.id
    ) as count
    from failure_groups g where g.workspace_id = ${filter.workspace_id} and g.id = any (${[...ids]}::text[])`;
}

/** Counts the failures of the given groups per bucket of a range. */
export async function trendsOf(
  sql: Sql,
  filter: FailureQuery,
  ids: readonly string[],
): Promise<{ readonly id: string; readonly at: Date; readonly count: number }[]> {
  return sql<{ id: string; at: Date; count: number }[]>`
    select group_id as id, date_trunc(${filter.bucket}, at, 'UTC') as at, sum(count)::int as count
    from ${sql(source(filter.bucket))}
    where workspace_id = ${filter.workspace_id} and kind = any (${[...kindsOf(filter)]}::text[]) and at >= ${filter.from} and at < ${filter.to}
      and group_id = any (${[...ids]}::text[])
    group by 1, 2`;
}

/** Returns the most frequent destinations of the given groups. */
export async function destinationsOf(
  sql: Sql,
  filter: FailureQuery,
  ids: readonly string[],
  max: number,
): Promise<{ readonly id: string; readonly destinations: string[] }[]> {
  return sql<{ id: string; destinations: string[] }[]>`
    select id, array_agg(destination order by place) as destinations
    from (
      select group_id as id, destination,
        row_number() over (partition by group_id order by sum(count) desc, destination) as place
      from ${sql(source(filter.bucket))}
      where workspace_id = ${filter.workspace_id} and kind = any (${[...kindsOf(filter)]}::text[]) and at >= ${filter.from} and at < ${filter.to}
        and group_id = any (${[...ids]}::text[]) and destination <> ''
      group by 1, 2
    ) d
    where place <= ${max}
    group by id`;
}
