import { z } from 'zod';
import { recipientKinds, retainField } from '../../accept/index.ts';
import { type DeliveryState, deliveryStates, messageStatus, refusalCategories } from '../../delivery/index.ts';
import { isoTime } from '../../fields/clock.ts';
import { idPrefixes } from '../../fields/ids.ts';
import { idField, objectName, timeField } from '../../fields/wire.ts';
import { type Ages, isKept } from '../../operation/retention.ts';
import { priorityField } from '../../priorities/index.ts';
import type { AttemptRow, MessageRow, RecipientRow } from './log-store.ts';
import { waitingReason, waitingSchema } from './waiting.ts';

const statusField = z.enum(deliveryStates).meta({
  id: 'DeliveryStatus',
  description:
    "A recipient's status. While any recipient is open, an email has the least advanced open status, in the order " +
    'scheduled, queued, deferred, sending. Once all recipients are closed, it has the worst status, in the order of ' +
    'the remaining values.',
});

const capturedField = z.boolean().meta({
  description: 'Whether the email went to the test inbox instead of a mail server. That counts as delivered.',
});

const bounceSchema = z
  .object({
    class: z
      .enum(['hard', 'soft'])
      .meta({ description: 'hard: the mailbox or its domain does not exist. Unknown causes are soft.' }),
    category: z.enum(refusalCategories).meta({ description: 'The cause of the rejection.' }),
    code: z
      .string()
      .nullable()
      .meta({ description: 'The enhanced status code, or the reply code.', examples: ['5.1.1'] }),
    reason: z.literal('relay_suppressed').nullable().meta({
      description:
        "relay_suppressed: the relay didn't try, because the address is on a suppression list of its own. null: any other.",
    }),
  })
  .meta({ id: 'Bounce' });
export type BounceEntry = z.output<typeof bounceSchema>;

export const recipientSchema = z
  .object({
    id: idField(idPrefixes.recipient),
    email: z.string().meta({ description: 'The address without a display name.' }),
    kind: z.enum(recipientKinds).meta({ description: 'The first field of the request that contains the address.' }),
    status: statusField,
    captured: capturedField,
    relayed: z.boolean().nullable().meta({
      description:
        "What delivered means here. true: a relay accepted the email. false: the recipient's server did, or it was captured. null: not delivered, or delivered before this was recorded.",
    }),
    confirmed_at: timeField.nullable().meta({
      description:
        "When the relay reported that the recipient's server accepted the email. null: it didn't, or isn't set up to.",
    }),
    attempts: z.int().meta({ description: 'Number of delivery attempts so far.' }),
    last_response: z.string().nullable().meta({ description: 'The last response from the receiving server.' }),
    next_attempt_at: timeField
      .nullable()
      .meta({ description: 'When the next attempt is due. null: neither scheduled nor deferred.' }),
    bounce: bounceSchema
      .nullable()
      .meta({ description: 'Why it bounced; null if the status is not bounced, or once the event has expired.' }),
    waiting: waitingSchema
      .nullable()
      .meta({ description: 'Why it has not been sent yet; null while sending and when closed.' }),
  })
  .meta({ id: 'Recipient' });
export type RecipientEntry = z.output<typeof recipientSchema>;

/** A message in lists, without its content. */
export const logEntrySchema = z
  .object({
    object: objectName('email'),
    id: idField(idPrefixes.message),
    status: statusField.meta({
      description:
        'The least advanced open status among its recipients or, once all of them are closed, the worst status.',
    }),
    captured: capturedField.meta({ description: 'Whether any recipient was captured.' }),
    from: z.string().meta({ description: 'The sender, a@b.c or Name <a@b.c>.' }),
    to: z.array(z.string()).readonly().meta({ description: 'Addresses in the To header, each a@b.c or Name <a@b.c>.' }),
    cc: z.array(z.string()).readonly().meta({ description: 'Addresses in the Cc header, each a@b.c or Name <a@b.c>.' }),
    bcc: z
      .array(z.string())
      .readonly()
      .meta({ description: 'Recipients that are in no header, each a@b.c or Name <a@b.c>.' }),
    reply_to: z.string().nullable().meta({ description: 'The address for replies. null: the sender.' }),
    subject: z.string().meta({ description: 'The Subject header, not encoded.' }),
    tags: z.array(z.string()).readonly().meta({ description: 'Labels from the request.' }),
    metadata: z
      .record(z.string(), z.string())
      .readonly()
      .meta({ description: 'Key-value pairs from the request, as text.' }),
    created_at: timeField.meta({ description: 'When the email was accepted.' }),
    scheduled_at: timeField.nullable().meta({ description: 'The requested send time. null: not scheduled.' }),
    sent_at: timeField.nullable().meta({ description: 'The start of the first attempt.' }),
    delivered_at: timeField.nullable().meta({ description: 'The latest delivery to any recipient. null: none yet.' }),
    priority: priorityField,
    retain: retainField,
    recipients: z.array(recipientSchema).readonly().meta({ description: 'One entry per unique address.' }),
    last_event: z
      .object({
        type: z.string().meta({ description: 'The event type.', examples: ['email.delivered'] }),
        at: timeField.meta({ description: 'When the event happened.' }),
      })
      .meta({ description: 'The newest event.' }),
    message_id: z.string().meta({ description: 'The Message-ID header of every copy.' }),
    api_key_id: idField(idPrefixes.api_key)
      .nullable()
      .meta({ description: 'The API key that sent it. null: sent without one.' }),
    request_id: idField(idPrefixes.request).meta({ description: 'The request that created the email.' }),
    size_bytes: z.int().meta({ description: 'Approximate size of bodies and encoded attachments.' }),
    resend_of: idField(idPrefixes.message).nullable().meta({ description: 'The message that this one resends.' }),
  })
  .meta({ id: 'LogEntry' });
export type LogEntry = z.output<typeof logEntrySchema>;

export function logEntry(message: MessageRow, recipients: readonly RecipientRow[]): LogEntry {
  return {
    object: 'email',
    id: message.id,
    status: statusOf(message, recipients),
    captured: recipients.some((row) => row.captured),
    from: message.from_address,
    to: message.to_addresses,
    cc: message.cc_addresses,
    bcc: message.bcc_addresses,
    reply_to: message.reply_to,
    subject: message.subject,
    tags: message.tags,
    // The cast is safe because the stored metadata was serialized from a value that the send schema accepted.
    metadata: JSON.parse(message.metadata) as Record<string, string>,
    created_at: isoTime(message.created_at),
    scheduled_at: maybeTime(message.scheduled_at),
    sent_at: maybeTime(message.sent_at ?? firstAttempt(recipients)),
    delivered_at: maybeTime(message.delivered_at),
    priority: message.priority,
    retain: message.retain,
    recipients: recipients.map(recipientEntry),
    last_event: { type: message.last_event_type, at: isoTime(message.last_event_at) },
    message_id: `<${message.id}@${message.from_domain}>`,
    api_key_id: message.api_key_id,
    request_id: message.request_id,
    size_bytes: message.body_bytes,
    resend_of: message.resend_of,
  };
}

/**
 * Returns the status of a message. The message row is updated only when an attempt finishes or takes long; until then,
 * the recipient rows are more up to date.
 */
function statusOf(message: MessageRow, recipients: readonly RecipientRow[]): DeliveryState {
  const waits = message.status === 'queued' || message.status === 'deferred';
  if (!waits || !recipients.some((row) => row.state === 'sending')) return message.status;
  return messageStatus(Object.fromEntries(recipients.map((row) => [row.state, 1])));
}

function firstAttempt(recipients: readonly RecipientRow[]): Date | null {
  const times = recipients.flatMap((row) => row.first_attempt_at ?? []);
  return times.toSorted((left, right) => left.getTime() - right.getTime())[0] ?? null;
}

function recipientEntry(row: RecipientRow): RecipientEntry {
  return {
    id: row.id,
    email: row.email,
    kind: row.kind,
    status: row.state,
    captured: row.captured,
    relayed: row.relayed,
    confirmed_at: maybeTime(row.confirmed_at),
    attempts: row.attempt_count,
    last_response: row.last_response,
    next_attempt_at: row.state === 'deferred' || row.state === 'scheduled' ? isoTime(row.due_at) : null,
    bounce: bounceEntry(row.bounce_facts),
    waiting: waitingReason(row),
  };
}

/** The cast is safe because the facts were serialized from the bounce event's data. */
function bounceEntry(facts: string | null): BounceEntry | null {
  if (facts === null) return null;
  const { bounce } = JSON.parse(facts) as { bounce?: Omit<BounceEntry, 'reason'> & Partial<BounceEntry> };
  return bounce ? { ...bounce, reason: bounce.reason ?? null } : null;
}

export const attemptOutcomes = ['accepted', 'deferred', 'rejected', 'unknown'] as const;

export const attemptSchema = z
  .object({
    id: idField(idPrefixes.attempt),
    recipient_id: idField(idPrefixes.recipient),
    number: z.int().meta({ description: '1 for the first attempt.' }),
    outcome: z.enum(attemptOutcomes).meta({
      description: 'unknown: the connection or worker was lost after DATA, so the email may have been delivered.',
    }),
    category: z
      .string()
      .nullable()
      .meta({
        description: `The rejection category: ${refusalCategories.join(', ')}.`,
        examples: ['mailbox'],
      }),
    stage: z.string().meta({
      description: 'The SMTP stage reached; worker_lost if the worker died before recording it.',
      examples: ['connect', 'rcpt', 'after_dot'],
    }),
    transport_id: z
      .string()
      .nullable()
      .meta({ description: 'The transport that was tried last. null: the default one.' }),
    target: z.string().meta({ description: 'The server contacted; empty if none.' }),
    address: z.string().nullable().meta({ description: 'The IP address of the server.' }),
    tls_policy: z
      .string()
      .nullable()
      .meta({
        description: 'The TLS policy of the session.',
        examples: ['none', 'opportunistic', 'required', 'mta-sts'],
      }),
    tls: z
      .object({
        protocol: z.string().meta({ description: 'TLS version, such as TLSv1.3.' }),
        cipher: z.string().meta({ description: 'Name of the cipher suite.' }),
        authorized: z.boolean().meta({ description: 'Whether the certificate of the server was verified.' }),
      })
      .nullable()
      .meta({ description: 'The encryption of the session. null: not encrypted, or no session.' }),
    reply: z
      .object({
        code: z.int().meta({ description: 'SMTP reply code, such as 250.' }),
        enhanced: z.string().nullable().meta({ description: 'Enhanced status code, such as 5.1.1. null: none.' }),
        text: z.string().meta({ description: 'The text after the codes, as one line.' }),
      })
      .nullable()
      .meta({ description: 'The reply that decided the attempt. null: none.' }),
    error: z.string().nullable().meta({ description: 'The local or connection error. null: none.' }),
    phases_ms: z
      .object({
        connect: z.number().meta({ description: 'Opening the connection; 0 on a reused one.' }),
        tls: z.number().meta({ description: 'STARTTLS upgrade; 0 without one or on a reused connection.' }),
        mail: z.number().meta({ description: 'From MAIL to the start of the content.' }),
        data: z.number().meta({ description: 'From the start of the content to the result; 0 if none was sent.' }),
      })
      .meta({ description: 'Duration of each stage in milliseconds.' }),
    transcript: z.string().nullable().meta({ description: 'The SMTP dialogue. null: not kept, or expired.' }),
    started_at: timeField.meta({ description: 'When the attempt started.' }),
    finished_at: timeField.meta({ description: 'When the result was recorded.' }),
  })
  .meta({ id: 'Attempt' });
export type AttemptEntry = z.output<typeof attemptSchema>;

/** Returns the attempts within the retention period. */
export function keptAttempts<R extends AttemptRow>(ages: Ages, rows: readonly R[]): R[] {
  return rows.filter(({ id }) => isKept(ages, 'events', id));
}

export function attemptEntry(ages: Ages, row: AttemptRow): AttemptEntry {
  return {
    id: row.id,
    recipient_id: row.recipient_id,
    number: row.number,
    outcome: row.outcome,
    category: row.category,
    stage: row.stage,
    transport_id: row.transport_id,
    target: row.target,
    address: row.address,
    tls_policy: row.tls_policy,
    // Both casts hold because the columns were serialized from the mailer's report.
    tls: row.tls === null ? null : (JSON.parse(row.tls) as AttemptEntry['tls']),
    reply:
      row.reply_code === null
        ? null
        : { code: row.reply_code, enhanced: row.reply_enhanced, text: row.reply_text ?? '' },
    error: row.error,
    phases_ms: JSON.parse(row.phases_ms) as AttemptEntry['phases_ms'],
    transcript: isKept(ages, 'transcripts', row.id) ? row.transcript : null,
    started_at: isoTime(row.started_at),
    finished_at: isoTime(row.finished_at),
  };
}

function maybeTime(value: Date | null): string | null {
  return value && isoTime(value);
}
