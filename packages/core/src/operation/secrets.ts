import { hash, randomBytes } from 'node:crypto';

export const keyModes = ['live', 'sandbox'] as const;
export type KeyMode = (typeof keyModes)[number];

const prefixes: Record<KeyMode, string> = { live: 'pr_live_', sandbox: 'pr_test_' };
const SHAPE = /^pr_(live|test)_[0-9a-f]{64}$/;

export function newSecret(mode: KeyMode): string {
  return prefixes[mode] + randomBytes(32).toString('hex');
}

export function secretPrefix(mode: KeyMode): string {
  return prefixes[mode];
}

export function looksLikeSecret(text: string): boolean {
  return SHAPE.test(text);
}

/**
 * Returns the digest to store. One SHA-256 is enough for 256 random bits, and an index lookup by digest leaks nothing.
 */
export function hashSecret(secret: string): Buffer {
  return hash('sha256', secret, 'buffer');
}
