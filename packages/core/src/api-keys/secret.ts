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
 * What is stored and compared. The secret has 256 random bits, so one SHA-256 is enough, and finding the
 * row by an index over the digest tells an attacker nothing about the secret.
 */
export function hashSecret(secret: string): Buffer {
  return hash('sha256', secret, 'buffer');
}
