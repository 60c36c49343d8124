import { randomBytes } from 'node:crypto';
import { Webhook } from 'standardwebhooks';
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

export function createSigner(secrets: readonly string[], format: WebhookFormat = 'postrider'): Signer {
  const prefix = headerPrefixes[format];
  const keys = secrets.map((secret) => new Webhook(secret));
  return (id, now_ms, body) => {
    const at = new Date(now_ms);
    return {
      [`${prefix}-id`]: id,
      [`${prefix}-timestamp`]: String(Math.floor(now_ms / 1000)),
      [`${prefix}-signature`]: keys.map((key) => key.sign(id, at, body)).join(' '),
    };
  };
}
