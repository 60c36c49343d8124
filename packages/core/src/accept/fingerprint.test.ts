import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { fingerprintOf, hasFingerprint } from './fingerprint.ts';

describe('a fingerprint (chaos C1)', () => {
  it('is the same for equal values, whatever the order of their keys', () => {
    fc.assert(
      fc.property(fc.dictionary(fc.string(), fc.jsonValue()), (value) => {
        const reversed = Object.fromEntries(Object.entries(value).toReversed());

        expect(hasFingerprint(reversed, fingerprintOf(value))).toBe(true);
      }),
    );
  });

  it('differs for a different value, list order or version', () => {
    expect(hasFingerprint({ to: ['b', 'a'] }, fingerprintOf({ to: ['a', 'b'] }))).toBe(false);
    expect(hasFingerprint({ at: new Date(1) }, fingerprintOf({ at: new Date(2) }))).toBe(false);
    expect(hasFingerprint({ a: '' }, fingerprintOf({ a: null }))).toBe(false);
    const newer = Buffer.from(fingerprintOf({ a: 1 }));
    newer[0] = 2;
    expect(hasFingerprint({ a: 1 }, newer)).toBe(false);
    expect(hasFingerprint({ a: 1 }, Buffer.alloc(0))).toBe(false);
  });

  it('ignores fields without a value', () => {
    expect(hasFingerprint({ a: 1, b: undefined }, fingerprintOf({ a: 1 }))).toBe(true);
  });
});
