import { type EventEntry, eventEntry } from '../../events/index.ts';
import type { OwedEvent } from '../deliveries/delivery-store.ts';
import type { WebhookFormat } from '../endpoints/format.ts';
import { resendBody } from './resend-body.ts';

// Standard Webhooks recommends less than 20 kB.
const MAX_BYTES = 20_000;
const FIRST_ADDRESSES = 10;
const LONG_TEXT = 500;

/** Builds the body of every post of an event to endpoints of a format, limited to 20 kB. */
export function bodyOf({ event, message, email }: OwedEvent, format: WebhookFormat): Buffer {
  return boundedBody(eventEntry(event, message, email), format);
}

/** Drops long fields, least significant first; the postrider format lists them in data.truncated. */
export function boundedBody(entry: EventEntry, format: WebhookFormat): Buffer {
  const encoded = encode(entry, format);
  if (encoded.length < MAX_BYTES) return encoded;
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
  const shorter = encode({ ...entry, data }, format);
  if (shorter.length < MAX_BYTES) return shorter;
  const minimal = { email: mail, recipient, truncated: [...truncated, 'data'] };
  return encode({ ...entry, data: minimal }, format);
}

/** The postrider format is the same as in GET /events. */
function encode(entry: EventEntry, format: WebhookFormat): Buffer {
  return Buffer.from(JSON.stringify(format === 'resend' ? resendBody(entry) : entry));
}

function shortened(text: string): string {
  return text.length > LONG_TEXT ? text.slice(0, LONG_TEXT).toWellFormed() : text;
}
