import { apart, fence, type Sql, type Tx } from '@postrider/db';
import type { RecipientKind, Retain } from '../../accept/index.ts';
import { type DeliveryState, isThere, type RefusalCategory } from '../../delivery/index.ts';
import type { ClosedReason } from '../../lanes/index.ts';
import { idIn, withinBounds } from '../../paging/keyset-store.ts';
import type { Priority } from '../../priorities/index.ts';
import { openInSql } from '../../states/index.ts';
import { destinationInLane } from '../../transports/index.ts';
import { countsAsDeleted } from '../changes/contents-store.ts';

export interface MessageRow {
  id: string;
  status: DeliveryState;
  from_address: string;
  from_domain: string;
  to_addresses: string[];
  cc_addresses: string[];
  bcc_addresses: string[];
  reply_to: string | null;
  subject: string;
  tags: string[];
  metadata: string;
  created_at: Date;
  scheduled_at: Date | null;
  sent_at: Date | null;
  delivered_at: Date | null;
  last_event_type: string;
  last_event_at: Date;
  api_key_id: string | null;
  request_id: string;
  resend_of: string | null;
  body_bytes: number;
  priority: Priority;
  retain: Retain;
}

export interface RecipientRow {
  message_id: string;
  id: string;
  email: string;
  kind: RecipientKind;
  state: DeliveryState;
  due_at: Date;
  due: boolean;
  /** Currently claimed by a worker. */
  leased: boolean;
  attempt_count: number;
  first_attempt_at: Date | null;
  last_response: string | null;
  captured: boolean;
  relayed: boolean | null;
  confirmed_at: Date | null;
  /** The facts of its bounce event, as JSON. */
  bounce_facts: string | null;
  job_id: string | null;
  parked_lane: string | null;
  /** How long the lane stays closed, why, and the destination's last reply. */
  throttled_until: Date | null;
  throttled_by: ClosedReason | null;
  throttled_reply: string | null;
  limit_connections: number | null;
  limit_per_minute: number | null;
  /** Messages per minute while the backlog of a released hold is sent. */
  resume_rate: number | null;
  /** The active hold that covers the recipient. */
  hold_id: string | null;
  hold_scope: string | null;
  hold_reason: string | null;
  hold_until: Date | null;
  /** Whether any worker is running, and the time of the last heartbeat. */
  worker_there: boolean;
  worker_seen: Date | null;
  /** Deliveries ahead and the estimated time; computed for a single message only. */
  ahead?: number | null;
  eta_seconds?: number | null;
}

export interface AttemptRow {
  id: string;
  recipient_id: string;
  number: number;
  outcome: 'accepted' | 'deferred' | 'rejected' | 'unknown';
  category: RefusalCategory | null;
  stage: string;
  target: string;
  address: string | null;
  tls: string | null;
  tls_policy: string | null;
  transport_id: string | null;
  reply_code: number | null;
  reply_enhanced: string | null;
  reply_text: string | null;
  error: string | null;
  phases_ms: string;
  transcript: string | null;
  started_at: Date;
  finished_at: Date;
}

export const messageColumns = (sql: Sql | Tx) => sql`
  m.id, m.status, m.from_address, m.from_domain, m.to_addresses, m.cc_addresses, m.bcc_addresses, m.reply_to,
  m.subject, m.tags, m.metadata, m.created_at, m.scheduled_at, m.sent_at, m.delivered_at, m.last_event_type,
  m.last_event_at, m.api_key_id, m.request_id, m.resend_of, m.body_bytes, m.priority, m.retain`;

export async function messageById(sql: Sql | Tx, workspace_id: string, id: string): Promise<MessageRow | null> {
  const [row] = await sql<MessageRow[]>`
    select ${messageColumns(sql)} from messages m where m.workspace_id = ${workspace_id} and m.id = ${id}`;
  return row ?? null;
}

export async function messagesByIds(
  sql: Sql | Tx,
  workspace_id: string,
  ids: readonly string[],
): Promise<MessageRow[]> {
  return sql<MessageRow[]>`
    select ${messageColumns(sql)} from messages m
    where m.workspace_id = ${workspace_id} and ${idIn(sql, sql`m.id`, ids)}`;
}

/** Whether any worker is alive, and the time of the last heartbeat. */
export interface WorkersSeen {
  readonly there: boolean;
  readonly last: Date | null;
}

/**
 * Returns the workers' liveness for a statement on a replica, which cannot look it up because heartbeats are in an
 * unlogged table; null on the primary.
 */
export async function workersSeen({
  sql,
  primary,
}: {
  readonly sql: Sql;
  readonly primary: Sql;
}): Promise<WorkersSeen | null> {
  if (sql === primary) return null;
  const [row] = await primary<WorkersSeen[]>`
    select coalesce(bool_or(${isThere(primary)}), false) as there, max(w.noted_at) as last from delivery_workers w`;
  return row ?? null;
}

/** Returns the recipients of messages, in the given order. */
export async function recipientsOf(
  sql: Sql | Tx,
  workspace_id: string,
  message_ids: readonly string[],
  workers: WorkersSeen | null = null,
): Promise<Map<string, RecipientRow[]>> {
  // Workers, lanes and holds are looked up for open recipients only.
  const open = sql`r.state in (${openInSql})`;
  const is_connected = workers
    ? sql`${workers.there}::boolean`
    : sql`(select coalesce(bool_or(${isThere(sql)}), false) from delivery_workers w)`;
  const last = workers ? sql`${workers.last}::timestamptz` : sql`(select max(w.noted_at) from delivery_workers w)`;
  const rows = await sql<RecipientRow[]>`
    select message_id, r.id, email, kind, state, due_at, due_at <= clock_now() as due,
      coalesce(lease_until > clock_now(), false) as leased, attempt_count, first_attempt_at,
      last_response, captured, relayed, confirmed_at, job_id,
      case when r.state = 'bounced' then (
        select e.facts from events e
        where e.message_id >= r.message_id and e.message_id <= r.message_id and e.recipient_id = r.id
          and ${apart(sql, sql`e.workspace_id`, sql`r.workspace_id`)} and e.type = 'email.bounced'
        order by e.message_id desc, e.id desc limit 1
      ) end as bounce_facts, l.parked_lane, l.throttled_until, l.throttled_by, l.throttled_reply, l.limit_connections,
      l.limit_per_minute, l.resume_rate, h.hold_id, h.hold_scope, h.hold_reason, h.hold_until,
      case when ${open} then ${is_connected} else true end as worker_there, case when ${open} then ${last} end as worker_seen
    from recipients r
    left join lateral (
      select p.lane as parked_lane, l.closed_until as throttled_until, l.reason as throttled_by,
        l.last_reply as throttled_reply, d.connections as limit_connections, d.messages_per_minute as limit_per_minute,
        g.resume_rate_per_minute as resume_rate
      from parked_deliveries p
      -- The limit of a destination closes it for all transports, under its own name.
      left join lateral (
        select x.closed_until, x.reason, x.last_reply from lanes x
        where x.lane = any (array[p.lane, ${destinationInLane(sql, sql`p.lane`)}]) and x.closed_until > clock_now()
        order by x.closed_until desc limit 1
      ) l on true
      left join destination_limits d on d.destination = ${destinationInLane(sql, sql`p.lane`)} and l.reason = 'limit'
      left join holds g on p.lane like 'held %' and g.id = id_of(substr(p.lane, 6)) and g.drained_at is null
        and (g.ended_at is not null or g.expires_at <= clock_now())
      where p.job_id = r.job_id and ${open}
      limit 1
    ) l on true
    left join lateral (
      select h.id as hold_id, h.scope as hold_scope, h.reason as hold_reason, h.expires_at as hold_until
      from holds h
      where ${open} and h.ended_at is null and h.expires_at > clock_now() and h.workspace_id in (no_id(), r.workspace_id)
        and case h.scope
          when 'instance' then true
          when 'queue' then h.value = 'delivery.attempt'
          when 'webhook' then false
          when 'destination' then l.parked_lane = 'held ' || id_text(h.id) or h.value = r.domain and exists (
            select from messages m where m.workspace_id = r.workspace_id and m.id = r.message_id and m.mode = 'live'
          )
          else exists (
            select from messages m where m.workspace_id = r.workspace_id and m.id = r.message_id
              and case h.scope when 'sender_domain' then m.from_domain = h.value else m.api_key_id = h.value_id end
          ) end
      order by h.scope = 'queue', h.id limit 1
    ) h on true
    where r.workspace_id = ${workspace_id} and ${idIn(sql, sql`r.message_id`, message_ids)}
    order by message_id, kind, r.id`;
  return Map.groupBy(rows, (row) => row.message_id);
}

export async function attemptsOf(sql: Sql, workspace_id: string, message_id: string): Promise<AttemptRow[]> {
  return sql<AttemptRow[]>`
    select ${attemptColumns(sql)} from attempts a
    where a.workspace_id = ${workspace_id} and a.message_id = ${message_id}
    order by a.id`;
}

/** Selects the transcript of an attempt; null if no transcript is stored. Served by the primary key. */
const transcriptOf = (sql: Sql | Tx) => sql`(
  select t.transcript from transcripts t
  where t.message_id = a.message_id and t.attempt_id = a.id and t.workspace_id = a.workspace_id
)`;

const attemptColumns = (sql: Sql | Tx) => sql`
  a.id, a.recipient_id, a.number, a.outcome, a.category, a.stage, a.target, a.address, a.tls, a.tls_policy, a.transport_id, a.reply_code,
  a.reply_enhanced, a.reply_text, a.error, a.phases_ms, ${transcriptOf(sql)} as transcript, a.started_at, a.finished_at`;

/** A message with its content as accepted. */
export interface ContentRow
  extends Pick<
    MessageRow,
    | 'created_at'
    | 'scheduled_at'
    | 'from_address'
    | 'from_domain'
    | 'to_addresses'
    | 'cc_addresses'
    | 'bcc_addresses'
    | 'reply_to'
    | 'subject'
    | 'tags'
    | 'metadata'
  > {
  message_id: string;
  priority: Priority;
  retain: Retain;
  html: string | null;
  text: string | null;
  headers: string;
  attachments: string;
}

/**
 * Returns the content of a message; null if it is not stored or past its retention period. Open messages need their
 * content regardless of age. Sealed content is never returned.
 */
export async function contentOf(
  sql: Sql | Tx,
  workspace_id: string,
  id: string,
  oldest_kept: string,
): Promise<ContentRow | null> {
  const [row] = await sql<ContentRow[]>`
    select m.id as message_id, m.created_at, m.scheduled_at, m.from_address, m.from_domain, m.to_addresses, m.cc_addresses,
      m.bcc_addresses, m.reply_to, m.subject, m.priority, m.retain, m.tags, m.metadata, b.html, b.text, b.headers, b.attachments
    from messages m
    join bodies b on b.message_id = m.id and b.workspace_id = m.workspace_id
    where m.workspace_id = ${workspace_id} and m.id = ${id} and not m.sealed and not (${countsAsDeleted(sql)})
      and (m.id >= ${oldest_kept} or m.status in (${openInSql}))`;
  return row ?? null;
}

/** Returns a page of attempts per message, oldest first. Served by the primary key. */
export async function readAttemptPages(
  sql: Sql,
  workspace_id: string,
  positions: readonly { readonly id: string; readonly behind: string }[],
  count: number,
): Promise<(AttemptRow & { message_id: string })[]> {
  const ids = positions.map((one) => one.id);
  return sql<(AttemptRow & { message_id: string })[]>`
    select a.* from unnest(${ids}::uuid[], ${positions.map((one) => one.behind)}::uuid[]) as q (id, behind)
    cross join lateral (
      select a.message_id, ${attemptColumns(sql)} from attempts a
      where a.message_id = q.id and a.workspace_id = ${workspace_id} and a.id > q.behind
        and ${withinBounds(sql, sql`a.message_id`, ids)}
      order by a.id limit ${count}
    ) a`;
}

/** Returns the last attempt of each recipient. Served by the primary key. */
export async function lastAttemptsOf(
  sql: Sql,
  workspace_id: string,
  message_ids: readonly string[],
): Promise<(AttemptRow & { message_id: string })[]> {
  return sql<(AttemptRow & { message_id: string })[]>`
    select distinct on (a.message_id, a.recipient_id) a.message_id, ${attemptColumns(sql)} from attempts a
    where a.workspace_id = ${workspace_id} and ${idIn(sql, sql`a.message_id`, message_ids)}
    order by a.message_id, a.recipient_id, a.id desc`;
}

/**
 * Returns attempts by id. No index leads from an attempt to its message, but the attempt's event is recorded with an id
 * from the same millisecond, so the events of a short time window lead to the message. Events are read once for all
 * ids, up to an equal share of `max` per window. Served by the primary keys.
 */
export async function attemptsNear(
  sql: Sql,
  workspace_id: string,
  ids: readonly string[],
  windows: readonly { readonly from: string; readonly before: string }[],
  max: number,
): Promise<(AttemptRow & { message_id: string })[]> {
  const share = Math.ceil(max / windows.length);
  return sql<(AttemptRow & { message_id: string })[]>`
    select a.* from (
      select distinct e.message_id from unnest(
        ${windows.map((one) => one.from)}::uuid[],
        ${windows.map((one) => one.before)}::uuid[]
      ) as q (floor, ceiling)
      cross join lateral (
        select e.message_id from events e
        where e.workspace_id = ${workspace_id} and e.id >= q.floor and e.id < q.ceiling order by e.id limit ${share}
      ) e
      where e.message_id is not null
    ) e
    cross join lateral (
      select a.message_id, ${attemptColumns(sql)} from attempts a
      where a.message_id = e.message_id and ${withinBounds(sql, sql`a.id`, ids)} and a.workspace_id = ${workspace_id}
      -- Kept apart from what follows, which would be a search of the index for each id and message.
      ${fence}
    ) a
    where a.id = any (${[...ids]}::uuid[])`;
}

/** Returns the messages of recipients, searched in the id range of each. */
export async function readMessagesByRecipient(
  sql: Sql,
  workspace_id: string,
  ranges: readonly { readonly id: string; readonly from: string; readonly before: string }[],
): Promise<Map<string, string>> {
  const rows = await sql<{ id: string; message_id: string }[]>`
    select q.id, m.id as message_id from unnest(
      ${ranges.map((one) => one.id)}::uuid[],
      ${ranges.map((one) => one.from)}::uuid[],
      ${ranges.map((one) => one.before)}::uuid[]
    ) as q (id, floor, ceiling)
    cross join lateral (
      select m.id from messages m
      where m.workspace_id = ${workspace_id} and m.id >= q.floor and m.id < q.ceiling
        and exists (
          select from recipients r where r.message_id = m.id and r.id = q.id and r.workspace_id = ${workspace_id}
        )
      limit 1
    ) m`;
  return new Map(rows.map((row) => [row.id, row.message_id]));
}
