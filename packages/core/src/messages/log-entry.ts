import { isoTime } from '../clock.ts';
import type { DeliveryState } from '../delivery/index.ts';
import type { AttemptRow, EventRow, MessageRow, RecipientRow } from './log-store.ts';
import { type Waiting, waitingReason } from './waiting.ts';

export interface RecipientEntry {
  readonly id: string;
  readonly email: string;
  readonly kind: 'to' | 'cc' | 'bcc';
  readonly status: DeliveryState;
  readonly attempts: number;
  readonly last_response: string | null;
  readonly next_attempt_at: string | null;
  readonly waiting: Waiting | null;
}

/** A message as every face shows it in lists; bodies are never part of it. */
export interface LogEntry {
  readonly object: 'email';
  readonly id: string;
  readonly status: DeliveryState;
  readonly from: string;
  readonly to: readonly string[];
  readonly cc: readonly string[];
  readonly bcc: readonly string[];
  readonly reply_to: string | null;
  readonly subject: string;
  readonly tags: readonly string[];
  readonly metadata: Readonly<Record<string, string>>;
  readonly created_at: string;
  readonly scheduled_at: string | null;
  readonly sent_at: string | null;
  readonly delivered_at: string | null;
  readonly recipients: readonly RecipientEntry[];
  readonly last_event: { readonly type: string; readonly at: string };
  readonly message_id: string;
  readonly api_key_id: string | null;
  readonly request_id: string;
}

export function logEntry(message: MessageRow, recipients: readonly RecipientRow[]): LogEntry {
  return {
    object: 'email',
    id: message.id,
    status: message.status,
    from: message.from_address,
    to: message.to_addresses,
    cc: message.cc_addresses,
    bcc: message.bcc_addresses,
    reply_to: message.reply_to,
    subject: message.subject,
    tags: message.tags,
    // Written by JSON.stringify of what the send schema let through.
    metadata: JSON.parse(message.metadata) as Record<string, string>,
    created_at: isoTime(message.created_at),
    scheduled_at: maybeTime(message.scheduled_at),
    sent_at: maybeTime(message.sent_at),
    delivered_at: maybeTime(message.delivered_at),
    recipients: recipients.map(recipientEntry),
    last_event: { type: message.last_event_type, at: isoTime(message.last_event_at) },
    message_id: `<${message.id}@${message.from_domain}>`,
    api_key_id: message.api_key_id,
    request_id: message.request_id,
  };
}

function recipientEntry(row: RecipientRow): RecipientEntry {
  return {
    id: row.id,
    email: row.email,
    kind: row.kind,
    status: row.state,
    attempts: row.attempt_count,
    last_response: row.last_response,
    next_attempt_at: row.state === 'deferred' || row.state === 'scheduled' ? isoTime(row.due_at) : null,
    waiting: waitingReason(row),
  };
}

export interface AttemptEntry {
  readonly id: string;
  readonly recipient_id: string;
  readonly number: number;
  readonly outcome: AttemptRow['outcome'];
  readonly stage: string;
  readonly target: string;
  readonly tls: unknown;
  readonly reply: { readonly code: number; readonly enhanced: string | null; readonly text: string } | null;
  readonly error: string | null;
  readonly phases_ms: unknown;
  readonly transcript: string | null;
  readonly started_at: string;
  readonly finished_at: string;
}

export function attemptEntry(row: AttemptRow): AttemptEntry {
  return {
    id: row.id,
    recipient_id: row.recipient_id,
    number: row.number,
    outcome: row.outcome,
    stage: row.stage,
    target: row.target,
    tls: row.tls === null ? null : JSON.parse(row.tls),
    reply:
      row.reply_code === null
        ? null
        : { code: row.reply_code, enhanced: row.reply_enhanced, text: row.reply_text ?? '' },
    error: row.error,
    phases_ms: JSON.parse(row.phases_ms),
    transcript: row.transcript,
    started_at: isoTime(row.started_at),
    finished_at: isoTime(row.finished_at),
  };
}

export interface EventEntry {
  readonly id: string;
  readonly type: string;
  readonly created_at: string;
  readonly sequence: number;
  readonly message_id: string | null;
  readonly recipient_id: string | null;
  readonly data: unknown;
}

export function eventEntry(row: EventRow): EventEntry {
  return {
    id: row.id,
    type: row.type,
    created_at: isoTime(row.created_at),
    sequence: row.sequence,
    message_id: row.message_id,
    recipient_id: row.recipient_id,
    data: JSON.parse(row.facts),
  };
}

function maybeTime(value: Date | null): string | null {
  return value && isoTime(value);
}
