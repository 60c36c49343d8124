import { hash, randomBytes } from 'node:crypto';

/** The secret of a session or a login link: 256 random bits, safe in a cookie and in a URL. */
export function newToken(): string {
  return randomBytes(32).toString('base64url');
}

/** What is stored and looked up. The token is random, so one SHA-256 is enough. */
export function hashToken(token: string): Buffer {
  return hash('sha256', token, 'buffer');
}
