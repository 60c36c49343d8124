import {
  compose,
  isSteeringHeader,
  type Mailbox,
  type OutgoingMessage,
  parseMailbox,
  textFromHtml,
} from '@postrider/mail';
import type { Services } from '../operation/context.ts';
import { returnPathLocal } from './return-path.ts';
import type { Body, DeliveryRow } from './store.ts';

/** How a transport wants the bytes of an email. */
export interface ContentForm {
  /** relay_safe: leaves the fields that relays rewrite out of the signature. */
  readonly signing: 'all' | 'relay_safe' | 'none';
  /** Whether the fields with which a program steers a relay are left out. */
  readonly strips_steering: boolean;
  /** Unsigned fields, each with its line end, before the email. */
  readonly added: string;
}

export const PLAIN_FORM: ContentForm = { signing: 'all', strips_steering: false, added: '' };
/** What a relay receives that has no settings of its own. */
export const RELAY_FORM: ContentForm = { ...PLAIN_FORM, strips_steering: true };
export function formName({ signing, strips_steering, added }: ContentForm): string {
  return `${signing} ${strips_steering} ${added}`;
}

interface StoredAttachment {
  readonly filename: string;
  readonly content: string;
  readonly content_type?: string;
  readonly content_id?: string;
}

/** Returns the envelope for one recipient. */
export function envelopeOf(
  { config, secret_key }: Pick<Services, 'config' | 'secret_key'>,
  delivery: DeliveryRow,
  envelope_from: 'ours' | 'from_domain' = 'ours',
): { readonly from: string; readonly to: string } {
  const ours = delivery.return_path ?? config.RETURN_PATH_DOMAIN;
  const domain = envelope_from === 'ours' && ours ? ours : delivery.from_domain;
  return { from: `${returnPathLocal(secret_key, delivery)}@${domain}`, to: delivery.email };
}

export type RenderInput = Body &
  Pick<
    DeliveryRow,
    | 'message_id'
    | 'created_at'
    | 'scheduled_at'
    | 'from_address'
    | 'from_domain'
    | 'to_addresses'
    | 'cc_addresses'
    | 'reply_to'
    | 'subject'
  >;

export function storedAttachments({ attachments }: Pick<Body, 'attachments'>): readonly StoredAttachment[] {
  // The cast is safe because attachments are stored as JSON of the send schema's output.
  return JSON.parse(attachments) as StoredAttachment[];
}

/** Renders the unsigned bytes that every recipient gets: a pure function of the rows of a message. */
export function renderMessage(message: RenderInput): Buffer {
  return compose(outgoing(message, message));
}

/**
 * Returns the Date of a message, which is the same on every attempt: its acceptance, or its scheduled time if that is
 * later.
 */
export function dateOf({ created_at, scheduled_at }: Pick<RenderInput, 'created_at' | 'scheduled_at'>): Date {
  return scheduled_at && scheduled_at > created_at ? scheduled_at : created_at;
}

/** Builds the composer input from the rows of a message, without the headers that steer a relay if it goes through one. */
export function outgoing(
  message: Omit<RenderInput, keyof Body>,
  body: Body,
  { strips_steering }: Pick<ContentForm, 'strips_steering'> = PLAIN_FORM,
): OutgoingMessage {
  // The cast is safe because headers are stored as JSON of the send schema's output.
  const stored = JSON.parse(body.headers) as Record<string, string>;
  const headers = strips_steering
    ? Object.fromEntries(Object.entries(stored).filter(([name]) => !isSteeringHeader(name)))
    : stored;
  return {
    message_id: `${message.message_id}@${message.from_domain}`,
    date: dateOf(message),
    from: mailbox(message.from_address),
    to: message.to_addresses.map(mailbox),
    cc: message.cc_addresses.map(mailbox),
    reply_to: message.reply_to === null ? null : mailbox(message.reply_to),
    subject: message.subject,
    html: body.html,
    text: body.text ?? (body.html === null ? null : textFromHtml(body.html)),
    headers,
    attachments: storedAttachments(body),
  };
}

function mailbox(text: string): Mailbox {
  const parsed = parseMailbox(text);
  // formatMailbox wrote the stored mailbox, and parseMailbox reads everything that formatMailbox writes.
  if (!parsed.ok) throw new Error(`a stored mailbox does not parse: ${parsed.message}`);
  return parsed.mailbox;
}
