import type { Sql } from '@postrider/db';
import type { DeliveryState } from '../delivery/index.ts';
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
}

export interface RecipientRow {
  message_id: string;
  id: string;
  email: string;
  kind: RecipientKind;
  state: DeliveryState;
  due_at: Date;
  attempt_count: number;
  last_response: string | null;
}

export interface AttemptRow {
  id: string;
  recipient_id: string;
  number: number;
  outcome: 'accepted' | 'deferred' | 'rejected' | 'unknown';
  stage: string;
  target: string;
  tls: string | null;
  reply_code: number | null;
  reply_enhanced: string | null;
  reply_text: string | null;
  error: string | null;
  phases_ms: string;
  transcript: string | null;
  started_at: Date;
  finished_at: Date;
}

export interface EventRow {
  id: string;
  type: string;
  message_id: string | null;
  recipient_id: string | null;
  sequence: number;
  facts: string;
  created_at: Date;
}

const messageColumns = (sql: Sql) => sql`
  m.id, m.status, m.from_address, m.from_domain, m.to_addresses, m.cc_addresses, m.bcc_addresses, m.reply_to,
  m.subject, m.tags, m.metadata, m.created_at, m.scheduled_at, m.sent_at, m.delivered_at, m.last_event_type,
  m.last_event_at, m.api_key_id, m.request_id`;

export interface LogFilter {
  readonly statuses: readonly DeliveryState[] | null;
}

/** A keyset page, newest first, served by the primary key or messages_status. */
export async function pageOfMessages(
  sql: Sql,
  workspace_id: string,
  filter: LogFilter,
  before: string | null,
  count: number,
): Promise<MessageRow[]> {
  return sql<MessageRow[]>`
    select ${messageColumns(sql)} from messages m
    where m.workspace_id = ${workspace_id}
      ${before === null ? sql`` : sql`and m.id < ${before}`}
      ${filter.statuses === null ? sql`` : sql`and m.status = any (${[...filter.statuses]}::text[]::delivery_state[])`}
    order by m.id desc limit ${count}`;
}

export async function messageById(sql: Sql, workspace_id: string, id: string): Promise<MessageRow | null> {
  const [row] = await sql<MessageRow[]>`
    select ${messageColumns(sql)} from messages m where m.workspace_id = ${workspace_id} and m.id = ${id}`;
  return row ?? null;
}

/** Recipients of some messages, in the order in which they were named. */
export async function recipientsOf(
  sql: Sql,
  workspace_id: string,
  message_ids: readonly string[],
): Promise<Map<string, RecipientRow[]>> {
  const rows = await sql<RecipientRow[]>`
    select message_id, id, email, kind, state, due_at, attempt_count, last_response from recipients
    where workspace_id = ${workspace_id} and message_id = any (${message_ids}::text[])
    order by message_id, kind, id`;
  return Map.groupBy(rows, (row) => row.message_id);
}

export async function attemptsOf(sql: Sql, workspace_id: string, message_id: string): Promise<AttemptRow[]> {
  return sql<AttemptRow[]>`
    select id, recipient_id, number, outcome, stage, target, tls, reply_code, reply_enhanced, reply_text, error,
      phases_ms, transcript, started_at, finished_at
    from attempts where workspace_id = ${workspace_id} and message_id = ${message_id}
    order by id`;
}

/** The timeline of one message, served by events_message. */
export async function eventsOf(sql: Sql, workspace_id: string, message_id: string): Promise<EventRow[]> {
  return sql<EventRow[]>`
    select id, type, message_id, recipient_id, sequence, facts, created_at
    from events where workspace_id = ${workspace_id} and message_id = ${message_id}
    order by sequence`;
}
