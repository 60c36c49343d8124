import { createHmac, createSecretKey, type KeyObject, randomBytes } from 'node:crypto';
import type { Sealing } from '../sealing.ts';

const PREFIX = 'whsec_';
const SECRET_BYTES = 32;
const BASE64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{4}|[A-Za-z0-9+/]{3}=|[A-Za-z0-9+/]{2}==)$/;

/** A secret as the standard writes it: whsec_ and base64. */
export function newWebhookSecret(): string {
  return PREFIX + randomBytes(SECRET_BYTES).toString('base64');
}

export function sealSecret(sealing: Sealing, webhook_id: string, secret: string): Buffer {
  return sealing.seal(Buffer.from(secret), purposeOf(webhook_id));
}

export function openSecret(sealing: Sealing, webhook_id: string, sealed: Buffer): string {
  return sealing.open(sealed, purposeOf(webhook_id)).toString();
}

function purposeOf(webhook_id: string): string {
  return `webhook ${webhook_id}`;
}

/** Signs bodies for one endpoint: with its secret, and for a day after a rotation with the one before too. */
export type Signer = (id: string, now_ms: number, body: Buffer) => Record<string, string>;

/** Standard Webhooks 1.0.0, "v1". Throws where a secret is none. */
export function createSigner(secrets: readonly string[]): Signer {
  const keys = secrets.map(keyOf);
  return (id, now_ms, body) => {
    const seconds = String(Math.floor(now_ms / 1000));
    const head = `${id}.${seconds}.`;
    return {
      'webhook-id': id,
      'webhook-timestamp': seconds,
      'webhook-signature': keys
        .map((key) => `v1,${createHmac('sha256', key).update(head).update(body).digest('base64')}`)
        .join(' '),
    };
  };
}

function keyOf(secret: string): KeyObject {
  const text = secret.startsWith(PREFIX) ? secret.slice(PREFIX.length) : secret;
  if (!BASE64.test(text)) throw new Error('a secret is whsec_ and base64');
  return createSecretKey(text, 'base64');
}
