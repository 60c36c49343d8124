import type { EventData, TimelineEvent } from '../events/index.ts';
import { statusAfterEvent } from '../events/index.ts';
import type { LogEntry } from './log-entry.ts';

/** What an event of a timeline tells, from the message that it belongs to; GET /events shows the same. */
export function eventDataOf(event: TimelineEvent, message: LogEntry): EventData {
  const { id, from, to, subject, tags, metadata, message_id, created_at } = message;
  const recipient = message.recipients.find((one) => one.id === event.recipient_id);
  return {
    // Written by JSON.stringify of an event's facts, which are an object.
    ...(JSON.parse(event.facts) as Record<string, unknown>),
    email: { id, from, to, subject, tags, metadata, message_id, created_at },
    recipient: recipient ? { id: recipient.id, email: recipient.email, status: statusAfterEvent(event.type) } : null,
  };
}
