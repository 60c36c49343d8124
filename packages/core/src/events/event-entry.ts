import { z } from 'zod';
import { isoTime } from '../fields/clock.ts';
import { idPrefixes } from '../fields/ids.ts';
import { idField, timeField } from '../fields/wire.ts';
import type { EventRow, SubjectRow } from './store.ts';

const eventDataSchema = z.looseObject({
  email: z
    .object({
      id: idField(idPrefixes.message).meta({ description: 'The email ID.' }),
      from: z.string().meta({ description: 'The sender, a@b.c or Name <a@b.c>.' }),
      to: z
        .array(z.string())
        .readonly()
        .meta({ description: 'Addresses in the To header, each a@b.c or Name <a@b.c>.' }),
      subject: z.string().meta({ description: 'The Subject header, not encoded.' }),
      tags: z.array(z.string()).readonly().meta({ description: 'Labels from the request.' }),
      metadata: z
        .record(z.string(), z.string())
        .readonly()
        .meta({ description: 'Key-value pairs from the request, as text.' }),
      message_id: z.string().meta({ description: 'The Message-ID header of every copy.' }),
      created_at: timeField.meta({ description: 'When the email was accepted.' }),
    })
    .nullable()
    .meta({ description: 'The email that the event is about; null if none.' }),
  recipient: z
    .object({
      id: idField(idPrefixes.recipient),
      email: z.string().meta({ description: 'The address without a display name.' }),
      status: z.string().meta({ description: 'The delivery status that the event set.' }),
    })
    .nullable()
    .meta({
      description: 'The recipient, with the status that the event set; null: the event applies to the whole message.',
    }),
});
export type EventData = z.output<typeof eventDataSchema>;

/** An event as every API returns it; data identifies the message and recipient. */
export const eventSchema = z
  .object({
    id: idField(idPrefixes.event).meta({ description: 'The event ID, also sent as the webhook-id header.' }),
    type: z.string().meta({ description: 'The event type. New types may be added.', examples: ['email.delivered'] }),
    created_at: timeField.meta({ description: 'When the event was recorded.' }),
    sequence: z.int().meta({ description: 'Increases by one per message event; 0 for events without a message.' }),
    email_id: idField(idPrefixes.message)
      .nullable()
      .meta({ description: 'The email. null: the event is not about an email.' }),
    recipient_id: idField(idPrefixes.recipient)
      .nullable()
      .meta({ description: 'The recipient. null: the event is not about one recipient.' }),
    data: eventDataSchema.meta({ description: 'What the event is about, with details that depend on its type.' }),
  })
  .meta({ id: 'Event' });
export type EventEntry = z.output<typeof eventSchema>;

/** The state of a recipient after an event that is not named after that state. */
const statusAfter: Readonly<Record<string, string>> = { delivery_delayed: 'deferred' };

export function statusAfterEvent(type: string, facts: Readonly<Record<string, unknown>> = {}): string {
  // A delay reported by a later hop: our delivery succeeded.
  if (facts.reported === true) return 'delivered';
  const happened = type.slice(type.indexOf('.') + 1);
  return statusAfter[happened] ?? happened;
}

export function eventEntry(row: EventRow, message: SubjectRow | undefined, email: string | undefined): EventEntry {
  // The cast is safe because facts are written with JSON.stringify of an object.
  const facts = JSON.parse(row.facts) as Record<string, unknown>;
  return {
    id: row.id,
    type: row.type,
    created_at: isoTime(row.created_at),
    sequence: row.sequence,
    email_id: row.message_id,
    recipient_id: row.recipient_id,
    data: {
      ...facts,
      email: message === undefined ? null : emailFacts(message),
      recipient:
        row.recipient_id === null || email === undefined
          ? null
          : { id: row.recipient_id, email, status: statusAfterEvent(row.type, facts) },
    },
  };
}

function emailFacts(message: SubjectRow): EventData['email'] {
  return {
    id: message.id,
    from: message.from_address,
    to: message.to_addresses,
    subject: message.subject,
    tags: message.tags,
    // The cast is safe because metadata is written with JSON.stringify of the send schema's output.
    metadata: JSON.parse(message.metadata) as Record<string, string>,
    message_id: `<${message.id}@${message.from_domain}>`,
    created_at: isoTime(message.created_at),
  };
}
