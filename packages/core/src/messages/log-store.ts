import type { Sql, Tx } from '@postrider/db';
import type { DeliveryState, RefusalCategory } from '../delivery/index.ts';
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
  /** Until when the lane is closed that it is parked in, and what was said there last. */
  throttled_until: Date | null;
  throttled_reply: string | null;
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
  sql: Sql,
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
  sql: Sql,
  workspace_id: string,
  message_ids: readonly string[],
): Promise<Map<string, RecipientRow[]>> {
  const rows = await sql<RecipientRow[]>`
    select message_id, id, email, kind, state, due_at, due_at <= clock_now() as due,
      coalesce(lease_until > clock_now(), false) as leased, attempt_count, first_attempt_at,
      last_response,
      l.closed_until as throttled_until, l.last_reply as throttled_reply
    from recipients r
    left join lateral (
      select l.closed_until, l.last_reply from parked_deliveries p
      join lanes l on l.lane = p.lane and l.closed_until > clock_now()
      where p.job_id = r.job_id and r.state in ('scheduled', 'queued', 'deferred', 'sending')
      limit 1
    ) l on true
    where r.workspace_id = ${workspace_id} and ${among(sql, sql`r.message_id`, message_ids)}
    order by message_id, kind, id`;
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
