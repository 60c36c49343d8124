import { timingSafeEqual } from 'node:crypto';
import { idPrefixes, isId } from '../fields/ids.ts';
import type { Services } from '../operation/context.ts';
import { rootSignature } from '../process/root-signature.ts';
import type { RecipientKey } from '../states/index.ts';

// The envelope sender names the recipient and is signed: b+<message><recipient>.<signature>. The message id is
// complete, to find the rows by primary key. Only the random part of the recipient id is used, which is unique enough
// among a hundred: two complete ids would leave 10 of 64 octets (RFC 5321 section 4.5.3.1.1) for the signature. All
// lowercase, so that servers that change case do no harm.

const MARK = 'b+';
const ID_CHARS = 26;
const RANDOM_CHARS = 16;
// 72 bits. Guesses can only be tried online, with one RCPT command each.
const SIGNATURE_CHARS = 18;
const FORM = new RegExp(`^([0-9a-z]{${ID_CHARS}})([0-9a-z]{${RANDOM_CHARS}})\\.([0-9a-f]{${SIGNATURE_CHARS}})$`);

/** The message of a returned email, and the suffix of its recipient id. */
export interface ReturnPath {
  readonly message_id: string;
  readonly recipient_end: string;
}

export type ReadReturnPath =
  | { readonly kind: 'ours'; readonly path: ReturnPath }
  /** Matches our format, but the signature is wrong. */
  | { readonly kind: 'forged' }
  | { readonly kind: 'foreign' };

export function returnPathLocal(secret_key: string, key: Pick<RecipientKey, 'message_id' | 'recipient_id'>): string {
  const message = key.message_id.slice(idPrefixes.message.length);
  const recipient_end = key.recipient_id.slice(-RANDOM_CHARS);
  return `${MARK}${message}${recipient_end}.${signatureOf(secret_key, message, recipient_end)}`;
}

/** Parses the local part of a returned message. Accepts the previous key, which signed messages still in transit. */
export function readReturnPath(services: Pick<Services, 'secret_key' | 'config'>, local_part: string): ReadReturnPath {
  const local = local_part.toLowerCase();
  if (!local.startsWith(MARK)) return { kind: 'foreign' };
  const [, message = '', recipient_end = '', signature = ''] = FORM.exec(local.slice(MARK.length)) ?? [];
  const message_id = idPrefixes.message + message;
  if (!isId('message', message_id)) return { kind: 'forged' };
  const previous = services.config.SECRET_KEY_PREVIOUS;
  const genuine = [services.secret_key, ...(previous === undefined ? [] : [previous])].some((key) =>
    timingSafeEqual(Buffer.from(signature), Buffer.from(signatureOf(key, message, recipient_end))),
  );
  return genuine ? { kind: 'ours', path: { message_id, recipient_end } } : { kind: 'forged' };
}

function signatureOf(secret_key: string, message: string, recipient_end: string): string {
  return rootSignature(secret_key, 'return-path', `${message}${recipient_end}`)
    .toString('hex')
    .slice(0, SIGNATURE_CHARS);
}
