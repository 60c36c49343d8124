import { hash, randomBytes } from 'node:crypto';

/** Generates the secret of a session or login link: 256 random bits, safe in a cookie and in a URL. */
export function newToken(): string {
  return randomBytes(32).toString('base64url');
}

/** Returns the digest to store and look up. The token is random, so one SHA-256 is enough. */
export function hashToken(token: string): Buffer {
  return hash('sha256', token, 'buffer');
}
