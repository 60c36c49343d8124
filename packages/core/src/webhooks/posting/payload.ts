import { type EventEntry, eventEntry } from '../../events/index.ts';
import type { OwedEvent } from '../deliveries/delivery-store.ts';

// Standard Webhooks asks for less than 20 kB.
const MOST_BYTES = 20_000;
const FIRST_ADDRESSES = 10;
const LONG_TEXT = 500;

/** The body of every post of an event: as in GET /events, limited to 20 kB. */
export function bodyOf({ event, message, email }: OwedEvent): Buffer {
  return boundedBody(eventEntry(event, message, email));
}

/** Drops long fields, the least significant first, and lists them in data.truncated. */
export function boundedBody(entry: EventEntry): Buffer {
  const whole = Buffer.from(JSON.stringify(entry));
  if (whole.length < MOST_BYTES) return whole;
  const { email, recipient, ...facts } = entry.data;
  const mail = email && {
    ...email,
    from: shortened(email.from),
    to: email.to.slice(0, FIRST_ADDRESSES).map(shortened),
    subject: shortened(email.subject),
    metadata: {},
  };
  const truncated = ['email.to', 'email.subject', 'email.metadata'];
  const data = { ...facts, email: mail, recipient, truncated };
  const shorter = Buffer.from(JSON.stringify({ ...entry, data }));
  if (shorter.length < MOST_BYTES) return shorter;
  return Buffer.from(JSON.stringify({ ...entry, data: { email: mail, recipient, truncated: [...truncated, 'data'] } }));
}

function shortened(text: string): string {
  return text.length > LONG_TEXT ? text.slice(0, LONG_TEXT).toWellFormed() : text;
}
