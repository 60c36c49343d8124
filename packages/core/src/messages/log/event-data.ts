import type { EventData, TimelineEvent } from '../../events/index.ts';
import { statusAfterEvent } from '../../events/index.ts';
import type { LogEntry } from './log-entry.ts';

/** Returns the data of a timeline event, as in GET /events. */
export function eventDataOf(event: TimelineEvent, message: LogEntry): EventData {
  const { id, from, to, subject, tags, metadata, message_id, created_at } = message;
  const recipient = message.recipients.find((one) => one.id === event.recipient_id);
  // The cast is safe because the facts are always serialized from an object.
  const facts = JSON.parse(event.facts) as Record<string, unknown>;
  return {
    ...facts,
    email: { id, from, to, subject, tags, metadata, message_id, created_at },
    recipient: recipient
      ? { id: recipient.id, email: recipient.email, status: statusAfterEvent(event.type, facts) }
      : null,
  };
}
