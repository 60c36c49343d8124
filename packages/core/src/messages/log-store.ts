import type { Sql, Tx } from '@postrider/db';
import { type DeliveryState, isThere, type RefusalCategory } from '../delivery/index.ts';
import { among } from '../keyset-store.ts';
import type { RecipientKind } from './addressees.ts';

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
}

export interface RecipientRow {
  message_id: string;
  id: string;
  email: string;
  kind: RecipientKind;
  state: DeliveryState;
  due_at: Date;
  due: boolean;
  /** A worker holds it now. */
  leased: boolean;
  attempt_count: number;
  first_attempt_at: Date | null;
  last_response: string | null;
  job_id: string | null;
  /** The lane that it is parked in. */
  parked_lane: string | null;
  /** Until when that lane is closed, why, and what was said there last. */
  throttled_until: Date | null;
  throttled_by: 'failing' | 'limit' | null;
  throttled_reply: string | null;
  limit_connections: number | null;
  limit_per_minute: number | null;
  /** At which its lane is left after a hold. */
  resume_rate: number | null;
  /** The active hold that keeps it back. */
  hold_id: string | null;
  hold_scope: string | null;
  hold_reason: string | null;
  hold_until: Date | null;
  /** Whether any worker is there to send it, and when one was last heard of. */
  worker_there: boolean;
  worker_seen: Date | null;
  /** How many stand before it, and when its turn comes; asked for one message only. */
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
  m.last_event_at, m.api_key_id, m.request_id, m.resend_of`;

export async function messageById(sql: Sql, workspace_id: string, id: string): Promise<MessageRow | null> {
  const [row] = await sql<MessageRow[]>`
    select ${messageColumns(sql)} from messages m where m.workspace_id = ${workspace_id} and m.id = ${id}`;
  return row ?? null;
}

export async function messagesByIds(
  sql: Sql | Tx,
  workspace_id: string,
  ids: readonly string[],
): Promise<Map<string, MessageRow>> {
  const rows = await sql<MessageRow[]>`
    select ${messageColumns(sql)} from messages m
    where m.workspace_id = ${workspace_id} and ${among(sql, sql`m.id`, ids)}`;
  return new Map(rows.map((row) => [row.id, row]));
}

/** Recipients of some messages, in the order in which they were named. */
export async function recipientsOf(
  sql: Sql | Tx,
  workspace_id: string,
  message_ids: readonly string[],
): Promise<Map<string, RecipientRow[]>> {
  // What is asked of the workers, of lanes and of holds is asked for open recipients only.
  const open = sql`r.state in ('scheduled', 'queued', 'deferred', 'sending')`;
  const rows = await sql<RecipientRow[]>`
    select message_id, r.id, email, kind, state, due_at, due_at <= clock_now() as due,
      coalesce(lease_until > clock_now(), false) as leased, attempt_count, first_attempt_at,
      last_response, job_id, l.parked_lane, l.throttled_until, l.throttled_by, l.throttled_reply, l.limit_connections,
      l.limit_per_minute, l.resume_rate, h.hold_id, h.hold_scope, h.hold_reason, h.hold_until,
      case when ${open} then (select coalesce(bool_or(${isThere(sql)}), false) from delivery_workers w) else true end
        as worker_there,
      case when ${open} then (select max(w.noted_at) from delivery_workers w) end as worker_seen
    from recipients r
    left join lateral (
      select p.lane as parked_lane, l.closed_until as throttled_until, l.reason as throttled_by,
        l.last_reply as throttled_reply, d.connections as limit_connections, d.messages_per_minute as limit_per_minute,
        g.resume_rate_per_minute as resume_rate
      from parked_deliveries p
      left join lanes l on l.lane = p.lane and l.closed_until > clock_now()
      left join destination_limits d on d.destination = p.lane and l.reason = 'limit'
      left join holds g on p.lane like 'held %' and g.id = substr(p.lane, 6) and g.drained_at is null
        and (g.ended_at is not null or g.expires_at <= clock_now())
      where p.job_id = r.job_id and ${open}
      limit 1
    ) l on true
    left join lateral (
      select h.id as hold_id, h.scope as hold_scope, h.reason as hold_reason, h.expires_at as hold_until
      from holds h
      where ${open} and h.ended_at is null and h.expires_at > clock_now() and h.workspace_id in ('', r.workspace_id)
        and case h.scope
          when 'queue' then h.value = 'delivery.attempt'
          when 'webhook' then false
          else l.parked_lane = 'held ' || h.id or exists (
            select from messages m where m.workspace_id = r.workspace_id and m.id = r.message_id and case h.scope
              when 'destination' then m.mode = 'live' and h.value = r.domain
              when 'sender_domain' then m.from_domain = h.value
              else m.api_key_id = h.value end
          ) end
      order by h.scope = 'queue', h.id limit 1
    ) h on true
    where r.workspace_id = ${workspace_id} and ${among(sql, sql`r.message_id`, message_ids)}
    order by message_id, kind, r.id`;
  return Map.groupBy(rows, (row) => row.message_id);
}

export async function attemptsOf(sql: Sql, workspace_id: string, message_id: string): Promise<AttemptRow[]> {
  return sql<AttemptRow[]>`
    select id, recipient_id, number, outcome, category, stage, target, address, tls, tls_policy, reply_code, reply_enhanced, reply_text,
      error, phases_ms, transcript, started_at, finished_at
    from attempts where workspace_id = ${workspace_id} and message_id = ${message_id}
    order by id`;
}

/** A message with its bodies, as they were accepted. */
export interface ContentRow {
  message_id: string;
  created_at: Date;
  from_address: string;
  from_domain: string;
  to_addresses: string[];
  cc_addresses: string[];
  bcc_addresses: string[];
  reply_to: string | null;
  subject: string;
  tags: string[];
  metadata: string;
  html: string | null;
  text: string | null;
  headers: string;
  attachments: string;
}

export async function contentOf(sql: Sql | Tx, workspace_id: string, id: string): Promise<ContentRow | null> {
  const [row] = await sql<ContentRow[]>`
    select m.id as message_id, m.created_at, m.from_address, m.from_domain, m.to_addresses, m.cc_addresses,
      m.bcc_addresses, m.reply_to, m.subject, m.tags, m.metadata, b.html, b.text, b.headers, b.attachments
    from messages m
    join bodies b on b.message_id = m.id and b.workspace_id = m.workspace_id
    where m.workspace_id = ${workspace_id} and m.id = ${id}`;
  return row ?? null;
}
