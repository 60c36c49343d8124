import { timingSafeEqual } from 'node:crypto';
import type { ReturnPath } from '../delivery/index.ts';
import { idPrefixes, isId } from '../fields/ids.ts';
import type { Services } from '../operation/context.ts';
import { rootSignature } from '../process/root-signature.ts';
import type { RecipientKey } from '../states/index.ts';

// Names the recipient like a return path, and is signed for one transport: what another relay was given proves nothing
// here. Some relays leave it visible to recipients, so it is never the proof of a post.

const ID_CHARS = 26;
const RANDOM_CHARS = 16;
const SIGNATURE_CHARS = 20;
const FORM = new RegExp(`^([0-9a-z]{${ID_CHARS}})([0-9a-z]{${RANDOM_CHARS}})\\.([0-9a-f]{${SIGNATURE_CHARS}})$`);

/** Returns the reference that a relay repeats in its feedback, 63 characters. */
export function feedbackReference(
  secret_key: string,
  transport_id: string,
  key: Pick<RecipientKey, 'message_id' | 'recipient_id'>,
): string {
  const subject = key.message_id.slice(idPrefixes.message.length) + key.recipient_id.slice(-RANDOM_CHARS);
  return `${subject}.${signatureOf(secret_key, transport_id, subject)}`;
}

/** Returns the recipient that a reference names; null if it was not signed for this transport. */
export function readReference(
  services: Pick<Services, 'secret_key' | 'config'>,
  transport_id: string,
  text: string,
): ReturnPath | null {
  const [, message = '', recipient_end = '', signature = ''] = FORM.exec(text.trim().toLowerCase()) ?? [];
  const message_id = idPrefixes.message + message;
  if (!isId('message', message_id)) return null;
  const { SECRET_KEY_PREVIOUS: previous } = services.config;
  const is_genuine = [services.secret_key, ...(previous === undefined ? [] : [previous])].some((key) =>
    timingSafeEqual(Buffer.from(signature), Buffer.from(signatureOf(key, transport_id, message + recipient_end))),
  );
  return is_genuine ? { message_id, recipient_end } : null;
}

function signatureOf(secret_key: string, transport_id: string, subject: string): string {
  return rootSignature(secret_key, 'feedback-reference', `${transport_id} ${subject}`)
    .toString('hex')
    .slice(0, SIGNATURE_CHARS);
}
