import { hash, randomBytes } from 'node:crypto';

const COUNT = 10;
const BYTES = 10;
const GROUP = /.{4}(?=.)/g;
// Base 32 without letters that look like digits.
const ALPHABET = 'abcdefghjkmnpqrstuvwxyz023456789';

/** Generates ten codes of 80 random bits, to write down. */
export function newRecoveryCodes(): string[] {
  return Array.from({ length: COUNT }, () => written(randomBytes(BYTES)));
}

/** Returns the digest to store and look up. The code is random, so one SHA-256 is enough. */
export function hashRecoveryCode(code: string): Buffer {
  return hash('sha256', code.toLowerCase().replace(/[\s-]/g, ''), 'buffer');
}

function written(bytes: Buffer): string {
  const bits = [...bytes].map((byte) => byte.toString(2).padStart(8, '0')).join('');
  const letters = bits.match(/.{5}/g)?.map((five) => ALPHABET[Number.parseInt(five, 2)]) ?? [];
  return letters.join('').replace(GROUP, '$&-');
}
