import { createHmac, createSecretKey, type KeyObject, randomBytes } from 'node:crypto';
import type { Encryption } from '../../process/encryption.ts';
import type { WebhookFormat } from '../endpoints/format.ts';

const PREFIX = 'whsec_';
const SECRET_BYTES = 32;

/** Generates a secret in the Standard Webhooks format: whsec_ followed by base64. */
export function newWebhookSecret(): string {
  return PREFIX + randomBytes(SECRET_BYTES).toString('base64');
}

export function encryptSecret(encryption: Encryption, webhook_id: string, secret: string): Buffer {
  return encryption.encrypt(Buffer.from(secret), webhookPurpose(webhook_id));
}

export function openSecret(encryption: Encryption, webhook_id: string, encrypted: Buffer): string {
  return encryption.decrypt(encrypted, webhookPurpose(webhook_id)).toString();
}

export function webhookPurpose(webhook_id: string): string {
  return `webhook ${webhook_id}`;
}

/** Resend delivers through Svix, which signs as Standard Webhooks does, but under its older header names. */
const headerPrefixes: Readonly<Record<WebhookFormat, string>> = { postrider: 'webhook', resend: 'svix' };

/** Signs bodies with the endpoint's secret and, for a day after a rotation, also with the previous one. */
export type Signer = (id: string, now_ms: number, body: Buffer) => Record<string, string>;

/**
 * Signs as Standard Webhooks defines it. The reference library hashes in JavaScript, which takes a tenth of a worker's
 * time per webhook; Node's HMAC takes a fifth of that.
 */
export function createSigner(secrets: readonly string[], format: WebhookFormat = 'postrider'): Signer {
  const prefix = headerPrefixes[format];
  const keys = secrets.map(keyOf);
  return (id, now_ms, body) => {
    const seconds = String(Math.floor(now_ms / 1000));
    const signatureBy = (key: KeyObject) =>
      `v1,${createHmac('sha256', key).update(`${id}.${seconds}.`).update(body).digest('base64')}`;
    return {
      [`${prefix}-id`]: id,
      [`${prefix}-timestamp`]: seconds,
      [`${prefix}-signature`]: keys.map(signatureBy).join(' '),
    };
  };
}

const PADDING = /=+$/;

/** Returns the key of a secret, with or without its prefix and padding. Node decodes any text, so the key is compared. */
function keyOf(secret: string): KeyObject {
  const encoded = secret.startsWith(PREFIX) ? secret.slice(PREFIX.length) : secret;
  const key = Buffer.from(encoded, 'base64');
  const again = key.toString('base64').replace(PADDING, '');
  if (again === '' || again !== encoded.replace(PADDING, '')) throw new Error('the webhook secret is not base64');
  return createSecretKey(key);
}
