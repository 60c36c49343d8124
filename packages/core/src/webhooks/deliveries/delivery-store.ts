import { equalsByRange, equalsUnpruned, type Fragment, fence, listOf, type Sql, type Tx } from '@postrider/db';
import type { EventRow, SubjectRow } from '../../events/index.ts';
import { type CandidateRow, type Candidates, candidatesOf, type IdRange } from '../../paging/candidate-pages.ts';
import { idIn, within } from '../../paging/keyset-store.ts';
import { isHeld } from './held-store.ts';
import type { WebhookDeliveryState } from './state.ts';
import { waitingColumn } from './waiting-store.ts';

export interface WebhookDeliveryRow {
  readonly workspace_id: string;
  readonly id: string;
  readonly webhook_id: string;
  readonly event_id: string;
  readonly event_type: string;
  readonly state: WebhookDeliveryState;
  readonly attempt_count: number;
  readonly created_at: Date;
  readonly next_attempt_at: Date;
  readonly last_attempt_at: Date | null;
  readonly duration_ms: number | null;
  readonly finished_at: Date | null;
  readonly response_status: number | null;
  readonly response_body: string | null;
  readonly error: string | null;
  /** The JSON of waitingColumn. */
  readonly waiting: string | null;
}

function columns(sql: Sql | Tx) {
  return sql`d.workspace_id, d.id, d.webhook_id, d.event_id, d.event_type, d.state, d.attempt_count, d.created_at,
    d.next_attempt_at, d.last_attempt_at, d.duration_ms, d.finished_at, d.response_status, d.response_body, d.error,
    ${waitingColumn(sql)}`;
}

/** Matches row d by its primary key. */
export function isDelivery(sql: Sql | Tx, key: string): Fragment {
  const first = equalsByRange(sql, sql`d.id`, sql.unsafe(`${key}.id`));
  return sql`${first} and ${sql.unsafe(`d.workspace_id = ${key}.workspace_id`)}`;
}

/** Matches row d by its primary key in a statement that also locks rows. */
function isDeliveryUnpruned(sql: Sql | Tx, key: string): Fragment {
  return equalsUnpruned(sql, sql`d.id, d.workspace_id`, sql.unsafe(`${key}.id, ${key}.workspace_id`));
}

// The lease is not renewed: a post that has not started in time is handed back, and a post that has started times out
// before the lease expires.
export const WEBHOOK_LEASE_SECONDS = 30;
/** A previously paused endpoint is probed with one post at a time. */
const PROBES = 1;
// How far a claim searches an endpoint's pending deliveries for a delivery in flight. Claims come from the head, so a
// delivery in flight cannot be further back; walking the entire backlog of an unreachable endpoint would delay the
// others.
const HEAD = 1000;

/** How many due deliveries the lease owner of an endpoint may claim. */
export interface ClaimQuota {
  readonly webhook_id: string;
  readonly holder: string;
  readonly count: number;
}

export interface ClaimAsk {
  readonly quotas: readonly ClaimQuota[];
  /** The number of consecutive failures after which an endpoint is only probed. */
  readonly probe_after: number;
  readonly lease: string;
}

export interface ClaimedRow {
  readonly workspace_id: string;
  readonly id: string;
  readonly webhook_id: string;
  readonly event_id: string;
  readonly attempt_count: number;
  readonly sample: string | null;
}

/** An event with the data for its body. */
export interface OwedEvent {
  readonly event: EventRow;
  readonly message: SubjectRow | undefined;
  readonly email: string | undefined;
  /** The trace of the message, if it was sampled. */
  readonly trace_parent: string | null;
}

export interface ClaimedDeliveries {
  readonly rows: readonly ClaimedRow[];
  /** The deliveries' events, by id. */
  readonly events: ReadonlyMap<string, OwedEvent>;
}

interface WebhookEventRow {
  readonly event_id: string;
  readonly type: string;
  readonly message_id: string | null;
  readonly recipient_id: string | null;
  readonly sequence: number;
  readonly facts: string;
  /** null if another row carries the event, or the event does not exist. */
  readonly created_at: Date | null;
  /** null if the event has no message, or the message was deleted. */
  readonly m_created_at: Date | null;
  readonly from_address: string;
  readonly from_domain: string;
  readonly to_addresses: string[];
  readonly subject: string;
  readonly tags: string[];
  readonly metadata: string;
  readonly trace_parent: string | null;
  readonly email: string | null;
}

/**
 * Claims due deliveries up to each endpoint's quota, using webhook_deliveries_open, so that one endpoint's backlog does
 * not slow down the others. Skips endpoints that are disabled, paused or leased by another worker. Reads each event
 * once, by primary key.
 */
export async function claimRows(sql: Sql, { quotas, probe_after, lease }: ClaimAsk): Promise<ClaimedDeliveries> {
  const rows = await sql<(ClaimedRow & WebhookEventRow)[]>`
    with lanes as materialized (
      select a.webhook_id, (
        select case
          when w.failure_count < ${probe_after} then a.count
          when exists (
            select from (
              select d.lease_until from webhook_deliveries d
              where d.webhook_id = a.webhook_id and d.state = 'pending' order by d.next_attempt_at limit ${HEAD}
            ) head
            where head.lease_until >= clock_now()
          ) then 0
          else least(${PROBES}, a.count) end
        from webhooks w
        where w.id = a.webhook_id and w.status = 'enabled' and (w.paused_until is null or w.paused_until <= clock_now())
          and not ${isHeld(sql, sql`a.webhook_id`)}
          and exists (
            select from endpoint_leases v
            where v.webhook_id = a.webhook_id and v.holder = a.holder and v.held_until > clock_now()
          )
      ) as count
      from unnest(
        ${quotas.map((quota) => quota.webhook_id)}::uuid[],
        ${quotas.map((quota) => quota.holder)}::uuid[],
        ${quotas.map((quota) => quota.count)}::int[]
      ) as a (webhook_id, holder, count)
    ),
    picked as materialized (
      select p.workspace_id, p.id from lanes l
      cross join lateral (
        select d.workspace_id, d.id from webhook_deliveries d
        where d.webhook_id = l.webhook_id and d.state = 'pending' and d.next_attempt_at <= clock_now()
          and (d.lease_until is null or d.lease_until < clock_now())
        order by d.next_attempt_at limit l.count for update of d skip locked
      ) p
      where l.count > 0
    ),
    taken as (
      update webhook_deliveries d set
        lease = ${lease}::uuid,
        lease_until = clock_now() + make_interval(secs => ${WEBHOOK_LEASE_SECONDS}),
        attempt_count = d.attempt_count + 1
      from picked p
      where ${isDeliveryUnpruned(sql, 'p')}
      returning d.workspace_id, d.id, d.webhook_id, d.event_id, d.attempt_count, d.sample
    )
    select t.workspace_id, t.id, t.webhook_id, t.event_id, t.attempt_count, t.sample, ${payloadFields(sql)}
    from (select *, row_number() over (partition by event_id) as nth from taken) t
    ${payloadJoin(sql)}`;
  return { rows, events: owedEvents(rows) };
}

/** Returns the events of deliveries by id, each read once. */
export async function loadOwedEvents(
  sql: Sql,
  keys: readonly { readonly workspace_id: string; readonly event_id: string }[],
): Promise<Map<string, OwedEvent>> {
  const owners = [...new Map(keys.map((key) => [key.event_id, key.workspace_id]))];
  const rows = await sql<WebhookEventRow[]>`
    select t.event_id, ${payloadFields(sql)}
    from unnest(
      ${owners.map(([, workspace_id]) => workspace_id)}::uuid[],
      ${owners.map(([id]) => id)}::uuid[],
      ${owners.map(() => 1)}::int[]
    ) as t (workspace_id, event_id, nth)
    ${payloadJoin(sql)}`;
  return owedEvents(rows);
}

function payloadFields(sql: Sql): Fragment {
  return sql`e.type, e.message_id, e.recipient_id, e.sequence, e.facts, e.created_at,
    m.created_at as m_created_at, m.from_address, m.from_domain, m.to_addresses, m.subject, m.tags, m.metadata, m.trace_parent,
    r.email`;
}

/** Selects the body data of the event in `t`, by primary key. Of rows that share an event, only the first gets it. */
function payloadJoin(sql: Sql): Fragment {
  return sql`
    left join lateral (
      select * from events x where x.workspace_id = t.workspace_id and x.id = t.event_id and t.nth = 1 ${fence}
    ) e on true
    left join lateral (
      select * from messages x where x.workspace_id = t.workspace_id and x.id = e.message_id ${fence}
    ) m on true
    left join lateral (
      select * from recipients x
      where x.message_id = e.message_id and x.id = e.recipient_id and x.workspace_id = t.workspace_id ${fence}
    ) r on true`;
}

function owedEvents(rows: readonly WebhookEventRow[]): Map<string, OwedEvent> {
  const events = new Map<string, OwedEvent>();
  for (const row of rows) if (row.created_at !== null) events.set(row.event_id, owedEvent(row, row.created_at));
  return events;
}

function owedEvent(row: WebhookEventRow, created_at: Date): OwedEvent {
  const { event_id, type, message_id, recipient_id, sequence, facts, from_address, from_domain, to_addresses } = row;
  const { subject, tags, metadata } = row;
  return {
    event: { id: event_id, type, message_id, recipient_id, sequence, facts, created_at },
    message:
      message_id === null || row.m_created_at === null
        ? undefined
        : {
            id: message_id,
            created_at: row.m_created_at,
            from_address,
            from_domain,
            to_addresses,
            subject,
            tags,
            metadata,
          },
    email: row.email ?? undefined,
    trace_parent: row.trace_parent,
  };
}

export interface PostResult {
  readonly workspace_id: string;
  readonly id: string;
  readonly lease: string;
  readonly state: WebhookDeliveryState;
  /** Nothing was posted: the attempt does not count, and the delivery can be claimed again immediately. */
  readonly handed_back: boolean;
  /** Until the next attempt, if any. */
  readonly delay_seconds: number;
  /** null if nothing was posted. */
  readonly duration_ms: number | null;
  readonly response_status: number | null;
  readonly response_body: string | null;
  readonly error: string | null;
}

/**
 * Records results and returns the ids whose lease was still valid. The state is not part of the condition (only a
 * pending row has a lease), because the planner might then walk webhook_deliveries_open for every result. Rows are
 * locked in id order, as in a recovery.
 */
export async function recordResults(tx: Tx, posted: readonly PostResult[]): Promise<Set<string>> {
  const results = posted.toSorted((a, b) => (a.id < b.id ? -1 : 1));
  const rows = await tx<{ id: string }[]>`
    update webhook_deliveries d set
      state = r.state,
      attempt_count = d.attempt_count - r.handed_back::int,
      next_attempt_at = case when r.handed_back then d.next_attempt_at
        else clock_now() + make_interval(secs => r.delay_seconds) end,
      lease = null,
      lease_until = null,
      last_attempt_at = case when r.handed_back then d.last_attempt_at else clock_now() end,
      finished_at = case when r.state <> 'pending' then clock_now() end,
      duration_ms = case when r.handed_back then d.duration_ms else r.duration_ms end,
      response_status = case when r.handed_back then d.response_status else r.response_status end,
      response_body = case when r.handed_back then d.response_body else r.response_body end,
      error = case when r.handed_back then d.error else r.error end
    from unnest(
      ${results.map((result) => result.workspace_id)}::uuid[],
      ${results.map((result) => result.id)}::uuid[],
      ${results.map((result) => result.lease)}::uuid[],
      ${results.map((result) => result.state)}::text[],
      ${results.map((result) => String(result.handed_back))}::text[]::bool[],
      ${results.map((result) => result.delay_seconds)}::float8[],
      ${results.map((result) => result.duration_ms)}::int[],
      ${results.map((result) => result.response_status)}::int[],
      ${results.map((result) => result.response_body)}::text[],
      ${results.map((result) => result.error)}::text[]
    ) as r (workspace_id, id, lease, state, handed_back, delay_seconds, duration_ms, response_status, response_body, error)
    where ${isDelivery(tx, 'r')} and d.lease = r.lease
    returning d.id`;
  return new Set(rows.map((row) => row.id));
}

export interface DeliveryFilter {
  readonly webhook_ids: readonly string[];
  readonly states: readonly WebhookDeliveryState[] | null;
  readonly types: readonly string[] | null;
}

/** Returns deliveries newest first. Walks webhook_deliveries_newest per endpoint. */
export async function readDeliveryPage(
  sql: Sql,
  { webhook_ids, states, types }: DeliveryFilter,
  range: IdRange,
  count: number,
  limit: number,
): Promise<Candidates<WebhookDeliveryRow>> {
  const rows = await sql<CandidateRow<WebhookDeliveryRow>[]>`
    with candidates as materialized (
      select d.* from unnest(${[...webhook_ids]}::uuid[]) as w (id)
      cross join lateral (
        select d.* from webhook_deliveries d
        where ${listOf(sql, sql`d.webhook_id`, sql`w.id`)} and ${within(sql, sql`d.id`, range)}
        order by d.id desc limit ${count}
      ) d
      order by d.id desc limit ${count}
    )
    select (select count(*)::int from candidates) as examined, (select min(id) from candidates) as edge, ${columns(sql)}
    from (values (1)) as always
    left join lateral (
      select c.* from candidates c
      where ${states === null ? sql`true` : sql`c.state = any (${[...states]}::text[])`}
        and ${types === null ? sql`true` : sql`c.event_type = any (${[...types]}::text[])`}
      order by c.id desc limit ${limit}
    ) d on true
    order by d.id desc`;
  return candidatesOf<WebhookDeliveryRow>(rows);
}

export async function deliveriesByIds(
  sql: Sql,
  workspace_id: string,
  ids: readonly string[],
): Promise<WebhookDeliveryRow[]> {
  return sql<WebhookDeliveryRow[]>`
    select ${columns(sql)} from webhook_deliveries d
    where ${idIn(sql, sql`d.id`, ids)} and d.workspace_id = ${workspace_id}`;
}

/** Returns the deliveries of events. Served by the primary key, which starts with the event. */
export async function readDeliveriesByEvent(
  sql: Sql,
  workspace_id: string,
  event_ids: readonly string[],
): Promise<WebhookDeliveryRow[]> {
  return sql<WebhookDeliveryRow[]>`
    select ${columns(sql)} from unnest(${[...event_ids]}::uuid[]) as e (id)
    cross join (select w.id from webhooks w where w.workspace_id = ${workspace_id}) w
    cross join lateral (
      select x.* from webhook_deliveries x
      where x.id = webhook_delivery_id(e.id, w.id) and x.workspace_id = ${workspace_id} ${fence}
    ) d
    order by d.id`;
}

/**
 * Returns the endpoint and event of each delivery; `sample` is the body of a test delivery. Served by the primary key.
 */
export async function readDeliverySubjects(
  sql: Sql,
  workspace_id: string,
  ids: readonly string[],
): Promise<Pick<ClaimedRow, 'workspace_id' | 'id' | 'webhook_id' | 'event_id' | 'sample'>[]> {
  return sql<Pick<ClaimedRow, 'workspace_id' | 'id' | 'webhook_id' | 'event_id' | 'sample'>[]>`
    select d.workspace_id, d.id, d.webhook_id, d.event_id, d.sample from webhook_deliveries d
    where ${idIn(sql, sql`d.id`, ids)} and d.workspace_id = ${workspace_id}`;
}

/** Inserts a test delivery. It stores its own body, because there is no event. */
export async function insertSample(
  sql: Tx,
  sample: Pick<ClaimedRow, 'workspace_id' | 'id' | 'webhook_id' | 'event_id'> & {
    readonly event_type: string;
    readonly sample: string;
  },
): Promise<WebhookDeliveryRow> {
  const [row] = await sql<WebhookDeliveryRow[]>`
    insert into webhook_deliveries as d
      (workspace_id, id, webhook_id, event_id, event_type, state, next_attempt_at, created_at, sample)
    values (${sample.workspace_id}, ${sample.id}, ${sample.webhook_id}, ${sample.event_id}, ${sample.event_type},
      'pending', clock_now(), clock_now(), ${sample.sample})
    returning ${columns(sql)}`;
  if (!row) throw new Error('a delivery was inserted and not returned');
  return row;
}

/**
 * Restarts a delivery in any state; a post in flight finishes on its own. Returns null if there is no such delivery.
 */
export async function replayRow(
  sql: Tx,
  workspace_id: string,
  webhook_id: string,
  id: string,
): Promise<WebhookDeliveryRow | null> {
  const [row] = await sql<WebhookDeliveryRow[]>`
    update webhook_deliveries d set state = 'pending', attempt_count = 0, next_attempt_at = clock_now(),
      lease = null, lease_until = null, finished_at = null
    where d.id = ${id} and d.workspace_id = ${workspace_id} and d.webhook_id = ${webhook_id}
    returning ${columns(sql)}`;
  return row ?? null;
}

export interface EventSlice {
  readonly workspace_id: string;
  readonly webhook_id: string;
  /** After the first id and before the second. */
  readonly after: string;
  readonly before: string;
  readonly count: number;
}

/** Builds the expressions `slice`, the next events of a range, and `keys`, the deliveries that an endpoint is owed for them. */
export function owedKeys(sql: Sql | Tx, slice: EventSlice): Fragment {
  return sql`
    slice as materialized (
      select e.workspace_id, e.id, e.type, e.message_id from events e
      where e.workspace_id = ${slice.workspace_id} and e.id > ${slice.after} and e.id < ${slice.before}
      order by e.id limit ${slice.count}
    ),
    keys as materialized (
      select s.workspace_id, webhook_delivery_id(s.id, w.id) as id, w.id as webhook_id, s.id as event_id, s.type
      from slice s
      join webhooks w on w.workspace_id = s.workspace_id and w.id = ${slice.webhook_id} and w.status = 'enabled'
        and (w.events is null or s.type = any (w.events))
        and (w.mode = 'sandbox') = (s.message_id is not null and is_sandbox_mail(s.workspace_id, s.message_id))
    )`;
}

/**
 * Creates deliveries for the next events of a range that the endpoint has not received, because their delivery failed
 * or the endpoint was disabled. Returns the last event examined; null at the end. Also waits for locked pending rows,
 * because they may be about to fail. Rows are locked in id order, as when results are recorded.
 */
export async function oweAgain(sql: Tx, slice: EventSlice): Promise<string | null> {
  const [row] = await sql<{ last: string | null; examined: number }[]>`
    with ${owedKeys(sql, slice)},
    owed as (
      insert into webhook_deliveries
        (workspace_id, id, webhook_id, event_id, event_type, state, next_attempt_at, created_at)
      select k.workspace_id, k.id, k.webhook_id, k.event_id, k.type, 'pending', clock_now(), clock_now()
      from keys k order by k.id
      on conflict (id, workspace_id) do nothing
    ),
    locked as materialized (
      select d.workspace_id, d.id, d.state from keys k
      join webhook_deliveries d on ${isDeliveryUnpruned(sql, 'k')} and d.state <> 'delivered'
      order by d.id for update of d
    ),
    begun_anew as (
      update webhook_deliveries d set state = 'pending', attempt_count = 0, next_attempt_at = clock_now(),
        lease = null, lease_until = null, finished_at = null, error = null
      from locked l
      where l.state = 'failed' and ${isDeliveryUnpruned(sql, 'l')}
    )
    select max(id) as last, count(*)::int as examined from slice`;
  return row && row.examined === slice.count ? row.last : null;
}

/**
 * Fails some pending deliveries of a disabled endpoint; returns the count. Skips locked rows: the rows are locked by
 * due time, not in id order, so waiting for one could deadlock.
 */
export async function giveUpOpen(sql: Sql, webhook_id: string, reason: string, count: number): Promise<number> {
  const rows = await sql`
    with open as materialized (
      select d.workspace_id, d.id from webhook_deliveries d
      where d.webhook_id = ${webhook_id} and d.state = 'pending'
        and not exists (select from webhooks w where w.id = ${webhook_id} and w.status = 'enabled')
      order by d.next_attempt_at limit ${count} for update skip locked
    )
    update webhook_deliveries d set state = 'failed', finished_at = clock_now(), lease = null, lease_until = null,
      error = coalesce(d.error, ${reason})
    from open o where ${isDelivery(sql, 'o')}
    returning d.id`;
  return rows.length;
}

/** Returns whether a disabled endpoint still has pending deliveries. */
export async function hasOpenDeliveries(sql: Sql, webhook_id: string): Promise<boolean> {
  const [row] = await sql<{ found: boolean }[]>`
    select not exists (select from webhooks w where w.id = ${webhook_id} and w.status = 'enabled')
      and exists (select from webhook_deliveries d where d.webhook_id = ${webhook_id} and d.state = 'pending') as found`;
  return row?.found ?? false;
}

/** Returns whether a post to an endpoint may be in flight or about to start. */
export async function hasDeliveriesUnderWay(sql: Sql, webhook_id: string): Promise<boolean> {
  const [row] = await sql<{ found: boolean }[]>`
    select exists (
      select from webhook_deliveries d
      where d.webhook_id = ${webhook_id} and d.state = 'pending' and d.lease_until > clock_now()
    ) as found`;
  return row?.found ?? false;
}

/**
 * Returns the partitions of months that ended at least `seconds` ago, except last month, which ensure_partitions would
 * create again.
 */
export async function oldMonths(
  sql: Sql,
  parent: 'webhook_deliveries' | 'webhook_attempts',
  seconds: number,
): Promise<string[]> {
  const months = await sql<{ name: string }[]>`
    select c.relname as name from pg_inherits i join pg_class c on c.oid = i.inhrelid
    where i.inhparent = ${parent}::text::regclass and c.relname ~ '_[0-9]{6}$'
      and make_timestamptz(substr(right(c.relname, 6), 1, 4)::int, right(c.relname, 2)::int, 1, 0, 0, 0, 'UTC')
        + interval '1 month' <= least(
          clock_now() - make_interval(secs => ${seconds}),
          date_trunc('month', clock_now(), 'UTC') - interval '1 month')
    order by c.relname`;
  return months.map(({ name }) => name);
}

/** Drops a month unless it has pending rows; returns whether it was dropped. */
export async function dropMonth(sql: Sql, name: string): Promise<boolean> {
  const [row] = await sql<{ dropped: boolean }[]>`
    select drop_partition('webhook_deliveries', ${name}) as dropped`;
  return row?.dropped ?? false;
}

/** Drops a month of attempts; returns whether it was dropped. */
export async function dropAttemptMonth(sql: Sql, name: string): Promise<boolean> {
  const [row] = await sql<{ dropped: boolean }[]>`
    select drop_partition('webhook_attempts', ${name}) as dropped`;
  return row?.dropped ?? false;
}

/** Deletes old attempts in the default partition. */
export async function deleteStrayAttempts(sql: Sql, seconds: number): Promise<void> {
  await sql`
    delete from webhook_attempts_default where delivery_id < id_floor(clock_now() - make_interval(secs => ${seconds}))`;
}

/** Deletes some old finished rows; returns the count. Skips locked rows. */
export async function deleteFinished(sql: Sql, partition: string, seconds: number, count: number): Promise<number> {
  const rows = await sql`
    with old as materialized (
      select d.id, d.workspace_id from ${sql(partition)} d
      where d.state <> 'pending' and d.id < id_floor(clock_now() - make_interval(secs => ${seconds}))
      order by d.id limit ${count} for update skip locked
    )
    delete from ${sql(partition)} d using old o where d.id = o.id and d.workspace_id = o.workspace_id
    returning d.id`;
  return rows.length;
}
