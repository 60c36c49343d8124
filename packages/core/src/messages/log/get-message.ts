import type { Sql } from '@postrider/db';
import { z } from 'zod';
import { eventEntry, eventSchema, eventsOf } from '../../events/index.ts';
import { causeNames, type Explanation, explainResponse } from '../../explanations/index.ts';
import { idPrefixes } from '../../fields/ids.ts';
import { idField } from '../../fields/wire.ts';
import { accessibleMail } from '../../operation/access.ts';
import { AppError } from '../../operation/errors.ts';
import { operation } from '../../operation/operation.ts';
import { isKept } from '../../operation/retention.ts';
import type { DeliveryState } from '../../states/index.ts';
import {
  attemptEntry,
  attemptSchema,
  keptAttempts,
  type LogEntry,
  logEntry,
  logEntrySchema,
  type RecipientEntry,
  recipientSchema,
} from './log-entry.ts';
import { attemptsOf, messageById, recipientsOf } from './log-store.ts';
import { withPlaces } from './read-places.ts';

export const explanationSchema = z
  .object({
    cause: z.enum(causeNames).meta({ description: 'Stable name of the cause.' }),
    provider: z
      .string()
      .nullable()
      .meta({
        description: 'The mailbox provider whose wording was recognized.',
        examples: ['Gmail'],
      }),
    meaning: z.string().meta({ description: 'What happened.', examples: ['The recipient’s mailbox is full.'] }),
    action: z.string().meta({ description: 'What the sender can do.' }),
  })
  .meta({ id: 'Explanation' });

const explainedRecipientSchema = recipientSchema
  .extend({
    explanation: explanationSchema.nullable().meta({
      description: 'What last_response means, while deferred and after a bounce or failure. Its texts may change.',
    }),
  })
  .meta({ id: 'ExplainedRecipient' });

const messageDetailSchema = logEntrySchema
  .extend({
    recipients: z.array(explainedRecipientSchema).readonly().meta({ description: 'One entry per unique address.' }),
    events: z.array(eventSchema).readonly().meta({ description: 'The timeline, without expired events.' }),
    attempts: z.array(attemptSchema).readonly().meta({ description: 'Delivery attempts, without expired ones.' }),
  })
  .meta({ id: 'LogEntryDetail' });
export type MessageDetail = z.output<typeof messageDetailSchema>;

/** Returns one message with its timeline and every attempt. */
export const getMessage = operation({
  name: 'email.get',
  scope: 'email:logs:read',
  sandbox: true,
  summary: 'Get an email with its timeline and attempts',
  reasons: ['message_not_found'],
  input: z.object({ id: idField(idPrefixes.message) }),
  output: messageDetailSchema,
  async run(ctx, { id }): Promise<MessageDetail> {
    const { workspace_id } = ctx.actor;
    if (!(await accessibleMail(ctx, [id])).has(id)) throw messageNotFound(id);
    const [message, recipients, events, attempts] = await Promise.all([
      messageById(ctx.sql, workspace_id, id),
      recipientsOf(ctx.sql, workspace_id, [id]),
      eventsOf(ctx.sql, workspace_id, id),
      attemptsOf(ctx.sql, workspace_id, id),
    ]);
    if (!message) throw messageNotFound(id);
    const people = await withPlaces(ctx.sql, workspace_id, recipients.get(id) ?? []);
    const emails = new Map(people.map((row) => [row.id, row.email]));
    const entry = logEntry(message, people);
    return {
      ...entry,
      recipients: entry.recipients.map((recipient) => ({ ...recipient, explanation: explanationOf(recipient) })),
      events: events
        .filter((event) => isKept(ctx, 'events', event.id))
        .map((event) => eventEntry(event, message, emails.get(event.recipient_id ?? ''))),
      attempts: keptAttempts(ctx, attempts).map((row) => attemptEntry(ctx, row)),
    };
  },
});

/** Explains the last response of a recipient that was rejected, temporarily or permanently; null for all others. */
export function explanationOf({ status, last_response, bounce }: RecipientEntry): Explanation | null {
  if (last_response === null || !explained.has(status)) return null;
  return explainResponse(last_response, bounce);
}

const explained: ReadonlySet<DeliveryState> = new Set(['deferred', 'bounced', 'failed']);

/** Returns one message as a list entry. */
export async function entryOf(sql: Sql, workspace_id: string, id: string): Promise<LogEntry> {
  const [message, recipients] = await Promise.all([
    messageById(sql, workspace_id, id),
    recipientsOf(sql, workspace_id, [id]),
  ]);
  if (!message) throw messageNotFound(id);
  return logEntry(message, recipients.get(id) ?? []);
}

export function messageNotFound(id: string): AppError {
  return new AppError(
    'message_not_found',
    `No message with ID ${id.slice(0, 64)} in this workspace. IDs are returned by POST /v1/email/send and GET /v1/email/logs.`,
  );
}
