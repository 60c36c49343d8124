import { randomBytes, scrypt as scryptCallback, timingSafeEqual } from 'node:crypto';
import { promisify } from 'node:util';

const scrypt = promisify<string, Buffer, number, { N: number; r: number; p: number; maxmem: number }, Buffer>(
  scryptCallback,
);
// OWASP's minimum for scrypt: N = 2^17, r = 8, p = 1. Each hash uses 128 MiB.
const COST = { N: 2 ** 17, r: 8, p: 1, maxmem: 256 * 1024 * 1024 };
const LENGTH = 32;
// A dummy hash for users who do not exist or have no password, so that the check takes as long as a real one.
const NOBODY = `scrypt$${COST.N}$${COST.r}$${COST.p}$${Buffer.alloc(16).toString('base64')}$${Buffer.alloc(LENGTH).toString('base64')}`;

let lastTurn: Promise<unknown> = Promise.resolve();

/** Hashes one password at a time, so that many concurrent sign-ins do not use 128 MiB each. */
function inTurn<T>(work: () => Promise<T>): Promise<T> {
  const turn = lastTurn.then(work);
  lastTurn = turn.catch(() => undefined);
  return turn;
}

export function hashPassword(password: string): Promise<string> {
  return inTurn(async () => {
    const salt = randomBytes(16);
    const digest = await scrypt(password, salt, LENGTH, COST);
    return `scrypt$${COST.N}$${COST.r}$${COST.p}$${salt.toString('base64')}$${digest.toString('base64')}`;
  });
}

/** Compares a password with its hash. Takes the same time if there is no hash. */
export async function verifyPassword(password: string, stored: string | null): Promise<boolean> {
  const [kind, N, r, p, salt, digest] = (stored || NOBODY).split('$');
  if (kind !== 'scrypt' || !salt || !digest) return false;
  const expected = Buffer.from(digest, 'base64');
  const options = { N: Number(N), r: Number(r), p: Number(p), maxmem: COST.maxmem };
  const derived = await inTurn(() => scrypt(password, Buffer.from(salt, 'base64'), expected.length, options));
  return timingSafeEqual(expected, derived) && Boolean(stored);
}

/** Generates a password of 120 random bits. */
export function newPassword(): string {
  return randomBytes(15).toString('base64url');
}
