import { createHash } from 'node:crypto';

// A stored fingerprint begins with the version that made it, so that a retry after an upgrade is still compared.
const CURRENT = 1;
const versions: Readonly<Record<number, (meaning: unknown) => Buffer>> = {
  1: (meaning) => createHash('sha256').update(canonicalJson(meaning)).digest(),
};

/** Of what a request means: its parsed input. */
export function fingerprintOf(meaning: unknown, version: number = CURRENT): Buffer {
  const make = versions[version];
  return make ? Buffer.concat([Buffer.of(version), make(meaning)]) : Buffer.alloc(0);
}

export function hasFingerprint(meaning: unknown, stored: Buffer): boolean {
  return fingerprintOf(meaning, stored[0]).equals(stored);
}

/** JSON in which the order of keys does not count, and fields without a value are left out. */
function canonicalJson(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join()}]`;
  if (typeof value !== 'object' || value === null || value instanceof Date) return JSON.stringify(value) ?? 'null';
  const fields = Object.entries(value)
    .filter(([, inner]) => inner !== undefined)
    .sort(([left], [right]) => (left < right ? -1 : 1));
  return `{${fields.map(([name, inner]) => `${JSON.stringify(name)}:${canonicalJson(inner)}`).join()}}`;
}
