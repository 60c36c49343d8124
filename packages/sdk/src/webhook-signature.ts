import { nowMs } from './clock.ts';
import { WebhookVerificationError } from './errors.ts';
import type { WebhookEvent } from './generated/schemas.ts';

/** Headers from Node, the Fetch API or a framework. */
export type ReceivedHeaders = Headers | Readonly<Record<string, string | readonly string[] | undefined>>;

export interface VerifyOptions {
  /** How far the timestamp may be from the current time; defaults to five minutes. */
  readonly tolerance_seconds?: number | undefined;
}

const TOLERANCE_SECONDS = 300;

/**
 * Verifies the signature and age of a webhook request and returns its event. Pass the raw body, before any parser; pass
 * several secrets during a rotation.
 */
export async function verifyWebhook(
  body: string | Uint8Array | ArrayBuffer,
  headers: ReceivedHeaders,
  secret: string | readonly string[],
  { tolerance_seconds = TOLERANCE_SECONDS }: VerifyOptions = {},
): Promise<WebhookEvent> {
  const id = headerOf(headers, 'webhook-id');
  const sent_at = headerOf(headers, 'webhook-timestamp');
  const signatures = headerOf(headers, 'webhook-signature')
    .split(' ')
    .flatMap((one) => (one.startsWith('v1,') ? [one.slice(3)] : []));
  const age_seconds = /^\d{1,12}$/.test(sent_at) ? nowMs() / 1000 - Number(sent_at) : Number.NaN;
  if (!(Math.abs(age_seconds) <= tolerance_seconds)) {
    throw verificationError(
      'stale_timestamp',
      `webhook-timestamp is not within ${tolerance_seconds} s of this machine's clock.`,
    );
  }
  const bytes = bytesOf(body);
  const signed = joined(new TextEncoder().encode(`${id}.${sent_at}.`), bytes);
  for (const one of typeof secret === 'string' ? [secret] : secret) {
    const key = await keyOf(one);
    for (const signature of signatures) {
      const expected = fromBase64(signature);
      // The comparison in subtle.verify takes constant time.
      if (expected && (await crypto.subtle.verify('HMAC', key, expected, signed))) return eventOf(bytes);
    }
  }
  throw verificationError(
    'wrong_signature',
    'No signature fits: the secret is another one, or the body is not as it arrived.',
  );
}

function headerOf(headers: ReceivedHeaders, name: string): string {
  const value = headers instanceof Headers ? headers.get(name) : plainHeader(headers, name);
  if (value) return value;
  throw verificationError('missing_header', `The header ${name} is not there.`);
}

function plainHeader(headers: Readonly<Record<string, string | readonly string[] | undefined>>, name: string) {
  for (const [key, value] of Object.entries(headers)) {
    if (key.toLowerCase() === name) return typeof value === 'string' ? value : value?.join(' ');
  }
  return undefined;
}

async function keyOf(secret: string) {
  const bytes = secret.startsWith('whsec_') ? fromBase64(secret.slice('whsec_'.length)) : null;
  if (!bytes || bytes.length === 0) throw verificationError('malformed_secret', 'A secret is whsec_ and base64.');
  return crypto.subtle.importKey('raw', bytes, { name: 'HMAC', hash: 'SHA-256' }, false, ['verify']);
}

function eventOf(bytes: Uint8Array): WebhookEvent {
  try {
    // The cast is safe because the service signed the body.
    return JSON.parse(new TextDecoder().decode(bytes)) as WebhookEvent;
  } catch {
    throw verificationError('malformed_body', 'The body is signed and not JSON.');
  }
}

function verificationError(reason: string, message: string): WebhookVerificationError {
  return new WebhookVerificationError({ reason, message });
}

function bytesOf(body: string | Uint8Array | ArrayBuffer): Uint8Array<ArrayBuffer> {
  if (typeof body === 'string') return new TextEncoder().encode(body);
  return Uint8Array.from(body instanceof ArrayBuffer ? new Uint8Array(body) : body);
}

function joined(first: Uint8Array, second: Uint8Array): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(first.length + second.length);
  bytes.set(first);
  bytes.set(second, first.length);
  return bytes;
}

function fromBase64(text: string): Uint8Array<ArrayBuffer> | null {
  try {
    return Uint8Array.from(atob(text), (char) => char.charCodeAt(0));
  } catch {
    return null;
  }
}
