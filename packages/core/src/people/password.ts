import { randomBytes, scrypt as scryptCallback, timingSafeEqual } from 'node:crypto';
import { promisify } from 'node:util';

const scrypt = promisify<string, Buffer, number, { N: number; r: number; p: number; maxmem: number }, Buffer>(
  scryptCallback,
);
// OWASP's floor for scrypt: N = 2^17, r = 8, p = 1, which needs 128 MiB while it runs.
const COST = { N: 2 ** 17, r: 8, p: 1, maxmem: 256 * 1024 * 1024 };
const LENGTH = 32;

export async function hashPassword(password: string): Promise<string> {
  const salt = randomBytes(16);
  const digest = await scrypt(password, salt, LENGTH, COST);
  return `scrypt$${COST.N}$${COST.r}$${COST.p}$${salt.toString('base64')}$${digest.toString('base64')}`;
}

export async function verifyPassword(password: string, stored: string): Promise<boolean> {
  const [kind, N, r, p, salt, digest] = stored.split('$');
  if (kind !== 'scrypt' || !salt || !digest) return false;
  const expected = Buffer.from(digest, 'base64');
  const options = { N: Number(N), r: Number(r), p: Number(p), maxmem: COST.maxmem };
  return timingSafeEqual(expected, await scrypt(password, Buffer.from(salt, 'base64'), expected.length, options));
}

/** Random enough to print once and never think about again. */
export function newPassword(): string {
  return randomBytes(15).toString('base64url');
}
