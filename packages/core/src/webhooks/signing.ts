import { randomBytes } from 'node:crypto';
import { Webhook } from 'standardwebhooks';
import type { Sealing } from '../sealing.ts';

const PREFIX = 'whsec_';
const SECRET_BYTES = 32;

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

export function createSigner(secrets: readonly string[]): Signer {
  const keys = secrets.map((secret) => new Webhook(secret));
  return (id, now_ms, body) => {
    const at = new Date(now_ms);
    return {
      'webhook-id': id,
      'webhook-timestamp': String(Math.floor(now_ms / 1000)),
      'webhook-signature': keys.map((key) => key.sign(id, at, body)).join(' '),
    };
  };
}
