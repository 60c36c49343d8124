import { createHash, createHmac, createPublicKey, timingSafeEqual, verify } from 'node:crypto';
import { Webhook } from 'standardwebhooks';
import type { FeedbackPost } from './provider.ts';

// Each returns why a post is not genuine; null if it is.

const HOUR_MS = 3_600_000;
/** Most providers sign an event once, and repeat it for up to a day. */
const MAX_AGE_MS = 25 * HOUR_MS;
const MAX_EARLY_MS = HOUR_MS;

const digestOf = (text: string) => createHash('sha256').update(text).digest();
const isSame = (left: string, right: string) => timingSafeEqual(digestOf(left), digestOf(right));

export function headerOf({ headers }: FeedbackPost, name: string): string {
  const value = headers[name];
  return typeof value === 'string' ? value : '';
}

/** Standard Webhooks, which Svix also sends under older names. They stamp each try, so five minutes are enough. */
export function standardProblem(post: FeedbackPost, secret: string, prefix: 'webhook' | 'svix'): string | null {
  try {
    const fieldOf = (name: string) => headerOf(post, `${prefix}-${name}`);
    new Webhook(secret).verify(post.body, {
      'webhook-id': fieldOf('id'),
      'webhook-timestamp': fieldOf('timestamp'),
      'webhook-signature': fieldOf('signature'),
    });
    return null;
  } catch (error) {
    // The library parses the body after it has verified it.
    if (error instanceof SyntaxError) return null;
    return error instanceof Error ? error.message : String(error);
  }
}

/** The secret as the password of HTTP basic authentication, or as a bearer token. */
export function passwordProblem(post: FeedbackPost, secret: string): string | null {
  const [scheme = '', value = ''] = headerOf(post, 'authorization').split(' ', 2);
  const is_basic = scheme.toLowerCase() === 'basic';
  if (!is_basic && scheme.toLowerCase() !== 'bearer') return 'The Authorization header is missing.';
  const password = is_basic
    ? Buffer.from(value, 'base64')
        .toString('utf8')
        .replace(/^[^:]*:/, '')
    : value;
  return isSame(password, secret) ? null : 'The password is wrong.';
}

/** An ECDSA signature over the timestamp and the body, under the public key that the provider shows. */
export function ecdsaProblem(
  { body }: FeedbackPost,
  public_key: string,
  { signature, timestamp }: { readonly signature: string; readonly timestamp: string },
  now_ms: number,
): string | null {
  try {
    const key = createPublicKey({ key: Buffer.from(public_key, 'base64'), format: 'der', type: 'spki' });
    const content = Buffer.concat([Buffer.from(timestamp), body]);
    if (!verify('sha256', content, key, Buffer.from(signature, 'base64'))) return 'The signature does not match.';
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
  return ageProblem(timestamp, now_ms);
}

/** An HMAC over the timestamp and a token, but not over the body. */
export function tokenProblem(
  key: string,
  { timestamp, token, signature }: { readonly timestamp: string; readonly token: string; readonly signature: string },
  now_ms: number,
): string | null {
  const digest = createHmac('sha256', key)
    .update(timestamp + token)
    .digest('hex');
  if (token === '' || !isSame(digest, signature)) return 'The signature does not match.';
  return ageProblem(timestamp, now_ms);
}

export function ageProblem(timestamp: string, now_ms: number): string | null {
  const age_ms = now_ms - Number(timestamp) * 1000;
  return age_ms < MAX_AGE_MS && age_ms > -MAX_EARLY_MS ? null : 'The timestamp is too old, or in the future.';
}
