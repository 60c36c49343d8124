import { type Fragment, fence, type Sql, type Tx } from '@postrider/db';
import { idFloor } from '../fields/ids.ts';
import { DEFAULT_TRANSPORT } from '../transports/index.ts';
import { BINS_PER_DOUBLING, LAST_BIN } from './mail-times.ts';

export const MINUTE_MS = 60_000;
const MAX_STEP_MS = 4 * MINUTE_MS;
// Messages accepted at most this long before the range are read with those of the range, in one walk of the primary
// key.
const RECENT_MS = MINUTE_MS;
// Per dimension; the remaining keys of a bucket share one row, which bounds its size for any traffic.
const MAX_KEYS = { minute: 10, hour: 30, day: 60 };

/** The event from which each count is taken. */
export const countedEvents = {
  delivered: 'email.delivered',
  bounced: 'email.bounced',
  deferred: 'email.delivery_delayed',
  failed: 'email.failed',
  complained: 'email.complained',
  suppressed: 'email.suppressed',
  canceled: 'email.canceled',
} as const;

export type StatDimension = 'none' | 'domain' | 'tag' | 'provider' | 'destination' | 'api_key' | 'transport';
export type Bucket = 'minute' | 'hour' | 'day';

export type RollUpName = 'stats' | 'failures';

export interface Progress {
  readonly early_until: Date;
  readonly final_until: Date;
  /** How far the roll-up can be computed now, provisionally and finally. */
  readonly early_target: Date;
  readonly final_target: Date;
}

/** Locks the progress of a roll-up; returns null while another worker holds the lock. */
export async function lockProgress(
  tx: Tx,
  name: RollUpName,
  seconds: { readonly early: number; readonly late: number },
): Promise<Progress | null> {
  const [row] = await tx<Progress[]>`
    select early_until, final_until,
      date_trunc('minute', clock_now() - make_interval(secs => ${seconds.early}), 'UTC') as early_target,
      date_trunc('minute', clock_now() - make_interval(secs => ${seconds.late}), 'UTC') as final_target
    from roll_ups where name = ${name} for update skip locked`;
  return row ?? null;
}

export async function saveProgress(
  tx: Tx,
  name: RollUpName,
  progress: Pick<Progress, 'early_until' | 'final_until'>,
): Promise<void> {
  await tx`
    update roll_ups set early_until = ${progress.early_until}, final_until = ${progress.final_until}
    where name = ${name}`;
}

/** Raises the statement timeout, because a minute is the smallest step and must be computed even if that is slow. */
export async function allowMinutes(tx: Tx): Promise<void> {
  await tx`select set_config('statement_timeout', ${String(MAX_STEP_MS)}, true)`;
}

const binOf = (sql: Tx, ms: Fragment) =>
  sql`least(${LAST_BIN}, floor(${BINS_PER_DOUBLING} * ln(greatest(1, ${ms})::float8) / ln(2)))::int`;

/**
 * Returns SQL for the transport of the attempt that recorded event e, from the start of its facts, because parsing them
 * would be slower; null if no attempt did.
 */
const transportInFacts = (sql: Sql | Tx) =>
  sql`case when e.facts like '{"attempt":%' then
    case when split_part(e.facts, '"', 4) = 'transport_id' then split_part(e.facts, '"', 6) else ${DEFAULT_TRANSPORT} end end`;

/**
 * Returns SQL for the transport of event f about recipient r. A later report counts for the recipient's last attempt,
 * read by the primary key of attempts, which starts with the message.
 */
const transportOf = (sql: Tx) =>
  sql`coalesce(f.transport, case
    when r.first_attempt_at is not null and f.type not in (${countedEvents.suppressed}, ${countedEvents.canceled})
    then (
      select coalesce(id_text(x.transport_id), ${DEFAULT_TRANSPORT}) from attempts x
      where x.message_id = f.message_id and x.workspace_id = f.workspace_id and x.recipient_id = r.id
      order by x.number desc limit 1
    ) end, '')`;

/**
 * Returns SQL for a key as it is stored. API keys are grouped by their uuids, because id_text takes 10 µs a call; no_id()
 * stands for no key, and its text is empty.
 */
const keyText = (tx: Tx) => tx`case when dimension = 'api_key' then id_text(key::uuid) else key end`;

/** Returns SQL that stores when email of each kind was last delivered. */
const lastSuccesses = (tx: Tx) => tx`
  insert into last_successes as l (dimension, key, workspace_id, at)
  select dimension, ${keyText(tx)}, workspace_id, at
  from (
    select d.dimension, d.key, h.workspace_id, max(h.created_at) as at
    from (
      select workspace_id, from_domain, api_key_id, tags, provider, destination, transport, max(created_at) as created_at
      from happened where type = 'email.delivered' group by 1, 2, 3, 4, 5, 6, 7
    ) h
    cross join lateral (
      values ('destination', h.destination), ('provider', h.provider), ('sender_domain', h.from_domain),
        ('api_key', h.api_key_id::text), ('transport', h.transport)
      union all select 'tag', t.tag from unnest(h.tags) as t (tag)
    ) as d (dimension, key)
    group by 1, 2, 3
  ) s
  order by 1, 2, 3
  on conflict (dimension, key, workspace_id) do update set at = excluded.at where l.at < excluded.at`;

/** Returns SQL for the sums of rows c of the types that are counted. */
const sumsByType = (tx: Tx) => tx`
  coalesce(sum(c.n) filter (where c.type = 'accepted'), 0)::int as accepted,
  coalesce(sum(c.n) filter (where c.type = ${countedEvents.delivered}), 0)::int as delivered,
  coalesce(sum(c.n) filter (where c.type = ${countedEvents.bounced}), 0)::int as bounced,
  coalesce(sum(c.n) filter (where c.type = ${countedEvents.deferred}), 0)::int as deferred,
  coalesce(sum(c.n) filter (where c.type = ${countedEvents.failed}), 0)::int as failed,
  coalesce(sum(c.n) filter (where c.type = ${countedEvents.complained}), 0)::int as complained,
  coalesce(sum(c.n) filter (where c.type = ${countedEvents.suppressed}), 0)::int as suppressed,
  coalesce(sum(c.n) filter (where c.type = ${countedEvents.canceled}), 0)::int as canceled`;

/**
 * Recomputes the minutes of a range from events and messages, using the times in their ids. Walks the primary keys, one
 * step per workspace, and looks up the message and recipients of each event by primary key.
 */
export async function computeMinutes(tx: Tx, from: Date, to: Date): Promise<void> {
  const floors = (kind: 'event' | 'message') =>
    Array.from({ length: (to.getTime() - from.getTime()) / MINUTE_MS + 1 }, (_, index) =>
      idFloor(kind, from.getTime() + index * MINUTE_MS),
    );
  const events = floors('event');
  const messages = floors('message');
  const recent = idFloor('message', from.getTime() - RECENT_MS);
  const end = messages.at(-1) ?? '';
  // A cancellation is recorded once per message but counted for each of its recipients.
  const concerns = tx`case when f.recipient_id is null then r.state = 'canceled' else r.id = f.recipient_id end`;
  const since = tx`greatest(m.created_at, m.scheduled_at)`;
  const facts = tx`
    f.workspace_id, f.minute, f.type, f.captured, f.relayed, f.created_at, m.from_domain, coalesce(m.api_key_id, no_id()) as api_key_id, m.tags,
    r.domain as destination, coalesce(p.provider, '') as provider, ${transportOf(tx)} as transport,
    case when f.first and r.first_attempt_at is not null
      then ${binOf(tx, tx`extract(epoch from r.first_attempt_at - ${since}) * 1000`)} end as first_bin,
    case when f.type = ${countedEvents.delivered}
      then ${binOf(tx, tx`extract(epoch from f.created_at - ${since}) * 1000`)} end as delivery_bin`;
  await tx`delete from stat_minutes where at >= ${from} and at < ${to}`;
  await tx`
    with recorded as materialized (
      select e.workspace_id, e.message_id, e.recipient_id, e.type, e.created_at,
        width_bucket(e.id, ${events}::uuid[]) as minute, e.facts like '{"attempt":1,%' as first,
        e.type = ${countedEvents.delivered} and e.facts::jsonb ? 'captured' as captured,
        -- The last field, as where it is recorded: cheaper than parsing the facts once more.
        e.type = ${countedEvents.delivered} and e.facts like '%,"relayed":true}' as relayed,
        ${transportInFacts(tx)} as transport
      from workspaces w
      cross join lateral (
        select * from events x
        where x.workspace_id = w.id and x.id >= ${events[0] ?? ''} and x.id < ${events.at(-1) ?? ''}
          and x.type = any (${Object.values(countedEvents)}::text[])
        ${fence}
      ) e
    ),
    recent as materialized (
      select m.* from workspaces w
      cross join lateral (
        select x.workspace_id, x.id, x.from_domain, x.api_key_id, x.tags, x.created_at, x.scheduled_at from messages x
        where x.workspace_id = w.id and x.id >= ${recent} and x.id < ${end}
        ${fence}
      ) m
    ),
    happened as materialized (
      -- What most events are about is as young as they are, and read in one go with its recipients.
      select ${facts} from recorded f
      join recent m on m.workspace_id = f.workspace_id and m.id = f.message_id
      join recipients r on r.message_id = f.message_id and r.workspace_id = f.workspace_id and ${concerns}
        and r.message_id >= ${recent} and r.message_id < ${end}
      left join provider_domains p on p.domain = r.domain
      where f.message_id >= ${recent} and f.message_id < ${end}
      union all
      select ${facts} from recorded f
      cross join lateral (
        select * from messages x where x.workspace_id = f.workspace_id and x.id = f.message_id ${fence}
      ) m
      cross join lateral (
        select * from recipients r
        where r.message_id = f.message_id and r.workspace_id = f.workspace_id and ${concerns}
        ${fence}
      ) r
      left join provider_domains p on p.domain = r.domain
      where f.message_id < ${recent} or f.message_id >= ${end}
    ),
    told as (
      ${lastSuccesses(tx)}
    ),
    combined as materialized (
      select workspace_id, minute, from_domain, api_key_id, tags, provider, destination, transport, first_bin, delivery_bin, type,
        count(*)::int as n, (count(*) filter (where captured))::int as captured, (count(*) filter (where relayed))::int as relayed
      from happened group by 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11
      union all
      select b.workspace_id, width_bucket(b.id, ${messages}::uuid[]), b.from_domain, coalesce(b.api_key_id, no_id()), b.tags,
        coalesce(p.provider, ''), r.domain, '', null, null, 'accepted', count(*)::int, 0, 0
      from recent b
      join recipients r on r.message_id = b.id and r.workspace_id = b.workspace_id
        and r.message_id >= ${messages[0] ?? ''} and r.message_id < ${end}
      left join provider_domains p on p.domain = r.domain
      where b.id >= ${messages[0] ?? ''}
      group by 1, 2, 3, 4, 5, 6, 7
    ),
    counted_by_workspace as materialized (
      select c.workspace_id, d.dimension, ${from}::timestamptz + (c.minute - 1) * interval '1 minute' as at, d.key,
        c.first_bin, c.delivery_bin, sum(c.n) as n,
        sum(c.captured)::int as captured, sum(c.relayed)::int as relayed, ${sumsByType(tx)}
      from combined c
      cross join lateral (
        values ('none', ''), ('domain', c.from_domain), ('provider', c.provider), ('destination', c.destination),
          ('api_key', c.api_key_id::text), ('transport', c.transport)
        union all select 'tag', t.tag from unnest(c.tags) as t (tag)
      ) as d (dimension, key)
      group by 1, 2, 3, 4, 5, 6
    ),
    -- Sums of all workspaces are added up from those of each, so that each row is multiplied by the dimensions once.
    counted as materialized (
      select workspace_id, dimension, at, ${keyText(tx)} as key, first_bin, delivery_bin, n, accepted, delivered, captured,
        relayed, bounced, deferred, failed, complained, suppressed, canceled
      from counted_by_workspace
      union all
      select no_id(), dimension, at, ${keyText(tx)}, first_bin, delivery_bin, sum(n), sum(accepted)::int, sum(delivered)::int,
        sum(captured)::int, sum(relayed)::int, sum(bounced)::int, sum(deferred)::int, sum(failed)::int,
        sum(complained)::int, sum(suppressed)::int, sum(canceled)::int
      from counted_by_workspace
      group by dimension, at, key, first_bin, delivery_bin
    ),
    bins as (
      select workspace_id, dimension, at, key, 'first' as of, first_bin as bin, sum(n) as n from counted
      where first_bin is not null group by 1, 2, 3, 4, 5, 6
      union all
      select workspace_id, dimension, at, key, 'delivery', delivery_bin, sum(n) from counted
      where delivery_bin is not null group by 1, 2, 3, 4, 5, 6
    )
    ${insertion(tx, 'stat_minutes', tx`counted`, MAX_KEYS.minute)}`;
}

/**
 * Builds the end of a statement that has rows in `counted` and their histograms in `bins`: the busiest keys of each
 * bucket get a row each, and the remaining keys share one row.
 */
function insertion(tx: Tx, table: string, source: Fragment, max_keys: number): Fragment {
  return tx`
    , totals as (
      select workspace_id, dimension, at, key,
        row_number() over (partition by workspace_id, dimension, at order by sum(n) desc, key) as place
      from ${source} where key <> '' group by workspace_id, dimension, at, key
    ),
    named as materialized (select workspace_id, dimension, at, key from totals where place <= ${max_keys}),
    histograms as (
      select workspace_id, dimension, at, key,
        jsonb_object_agg(bin, n) filter (where of = 'first') as first_attempt,
        jsonb_object_agg(bin, n) filter (where of = 'delivery') as delivery
      from (
        select b.workspace_id, b.dimension, b.at, coalesce(k.key, '') as key, b.of, b.bin, sum(b.n)::int as n
        from bins b left join named k using (workspace_id, dimension, at, key)
        group by 1, 2, 3, 4, 5, 6
      ) b
      group by 1, 2, 3, 4
    ),
    rows as (
      select c.workspace_id, c.dimension, c.at, coalesce(k.key, '') as key, sum(accepted)::int as accepted,
        sum(delivered)::int as delivered, sum(captured)::int as captured, sum(relayed)::int as relayed, sum(bounced)::int as bounced, sum(deferred)::int as deferred,
        sum(failed)::int as failed, sum(complained)::int as complained, sum(suppressed)::int as suppressed,
        sum(canceled)::int as canceled
      from ${source} c left join named k using (workspace_id, dimension, at, key)
      group by 1, 2, 3, 4
    )
    insert into ${tx(table)} (workspace_id, dimension, at, key, accepted, delivered, captured, relayed, bounced, deferred, failed,
      complained, suppressed, canceled, first_attempt, delivery)
    select r.workspace_id, r.dimension, r.at, r.key, r.accepted, r.delivered, r.captured, r.relayed, r.bounced, r.deferred, r.failed,
      r.complained, r.suppressed, r.canceled, h.first_attempt, h.delivery
    from rows r left join histograms h using (workspace_id, dimension, at, key)`;
}

/**
 * Sums minutes into hours, or hours into days, for every bucket that overlaps a range. Served by the index on the time.
 */
export async function foldBuckets(tx: Tx, unit: 'hour' | 'day', from: Date, to: Date): Promise<void> {
  const [source, target] = unit === 'hour' ? ['stat_minutes', 'stat_hours'] : ['stat_hours', 'stat_days'];
  const first = tx`date_trunc(${unit}, ${from}::timestamptz, 'UTC')`;
  const end = tx`date_trunc(${unit}, ${to}::timestamptz - interval '1 microsecond', 'UTC') + ${`1 ${unit}`}::interval`;
  await tx`delete from ${tx(target)} where at >= ${first} and at < ${end}`;
  await tx`
    with parts as materialized (
      select workspace_id, dimension, date_trunc(${unit}, at, 'UTC') as at, key, accepted, delivered, captured, relayed, bounced, deferred,
        failed, complained, suppressed, canceled, first_attempt, delivery
      from ${tx(source)} where at >= ${first} and at < ${end}
    ),
    counted as materialized (
      select *, accepted + delivered + bounced + deferred + failed + complained + suppressed + canceled as n from parts
    ),
    bins as (
      select workspace_id, dimension, at, key, 'first' as of, b.bin::int as bin, b.n::int as n
      from parts cross join lateral jsonb_each_text(first_attempt) as b (bin, n)
      union all
      select workspace_id, dimension, at, key, 'delivery', b.bin::int, b.n::int
      from parts cross join lateral jsonb_each_text(delivery) as b (bin, n)
    )
    ${insertion(tx, target, tx`counted`, MAX_KEYS[unit])}`;
}

/** Deletes expired buckets, except minutes that are not yet part of a final hour. */
export async function forgetStats(
  sql: Sql | Tx,
  limits: { readonly minute_days: number; readonly grouped_minute_hours: number; readonly hour_days: number },
): Promise<void> {
  await sql`
    delete from stat_minutes
    where at < (select date_trunc('hour', final_until, 'UTC') from roll_ups where name = 'stats')
      and at < clock_now() - case when dimension = 'none' then make_interval(days => ${limits.minute_days})
        else make_interval(hours => ${limits.grouped_minute_hours}) end`;
  await sql`delete from stat_hours where at < clock_now() - make_interval(days => ${limits.hour_days})`;
  await sql`delete from stat_days where at < clock_now() - make_interval(days => ${limits.hour_days})`;
  await sql`delete from last_successes where at < clock_now() - interval '30 days'`;
}

export interface StatRow {
  readonly at: Date;
  readonly key: string;
  readonly accepted: number;
  readonly delivered: number;
  /** Of the delivered ones, those that went to the test inbox. */
  readonly captured: number;
  /** Of the delivered ones, those that a relay accepted. */
  readonly relayed: number;
  readonly bounced: number;
  readonly deferred: number;
  readonly failed: number;
  readonly complained: number;
  readonly suppressed: number;
  readonly canceled: number;
  readonly first_attempt: Readonly<Record<string, number>> | null;
  readonly delivery: Readonly<Record<string, number>> | null;
}

const tableOf: Record<Bucket, string> = { minute: 'stat_minutes', hour: 'stat_hours', day: 'stat_days' };

/** Returns the buckets of a range in time order, with histograms only if requested. Served by the primary key. */
export async function bucketsOf(
  sql: Sql,
  query: {
    readonly workspace_id: string;
    readonly dimension: StatDimension;
    readonly bucket: Bucket;
    readonly from: Date;
    readonly to: Date;
    readonly histograms: boolean;
    /** Defaults to all keys. */
    readonly keys?: readonly string[];
  },
): Promise<StatRow[]> {
  const { workspace_id, dimension, bucket, from, to, histograms, keys } = query;
  return sql<StatRow[]>`
    select at, key, accepted, delivered, captured, relayed, bounced, deferred, failed, complained, suppressed, canceled,
      ${histograms ? sql`first_attempt, delivery` : sql`null as first_attempt, null as delivery`}
    from ${sql(tableOf[bucket])}
    where workspace_id = ${workspace_id} and dimension = ${dimension} and at >= ${from} and at < ${to}
      and ${keys === undefined ? sql`true` : sql`key = any (${[...keys]}::text[])`}
    order by at`;
}

/** Returns the database's time and how far a roll-up has been computed. */
export async function readRollUpState(
  sql: Sql,
  name: RollUpName,
): Promise<{ readonly now: Date; readonly until: Date }> {
  const [row] = await sql<{ now: Date; until: Date }[]>`
    select clock_now() as now, greatest(early_until, final_until) as until from roll_ups where name = ${name}`;
  if (!row) throw new Error(`no roll-up is called ${name}`);
  return row;
}
