import { createHash } from 'node:crypto';

// A stored fingerprint starts with the version that produced it, so that a retry after an upgrade still matches.
const CURRENT = 1;
const versions: Readonly<Record<number, (meaning: unknown) => Buffer>> = {
  1: (meaning) => createHash('sha256').update(canonicalJson(meaning)).digest(),
};

/** Hashes the meaning of a request: its parsed input. */
export function fingerprintOf(meaning: unknown, version: number = CURRENT): Buffer {
  const make = versions[version];
  return make ? Buffer.concat([Buffer.of(version), make(meaning)]) : Buffer.alloc(0);
}

export function hasFingerprint(meaning: unknown, stored: Buffer): boolean {
  return fingerprintOf(meaning, stored[0]).equals(stored);
}

/** Serializes to JSON regardless of key order, omitting fields without a value. */
function canonicalJson(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join()}]`;
  if (typeof value !== 'object' || value === null || value instanceof Date) return JSON.stringify(value) ?? 'null';
  const fields = Object.entries(value)
    .filter(([, inner]) => inner !== undefined)
    .sort(([left], [right]) => (left < right ? -1 : 1));
  return `{${fields.map(([name, inner]) => `${JSON.stringify(name)}:${canonicalJson(inner)}`).join()}}`;
}
