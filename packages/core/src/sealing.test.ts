import { describe, expect, it } from 'vitest';
import { createSealing, SealError } from './sealing.ts';

const OLD = 'o'.repeat(64);
const NEW = 'n'.repeat(64);
const plain = Buffer.from('a private key');

describe('what is sealed', () => {
  it('opens under the same key and purpose, and shows nothing of itself', () => {
    const sealing = createSealing(OLD);

    const [sealed, again] = [sealing.seal(plain, 'dkim a'), sealing.seal(plain, 'dkim a')];

    expect(sealing.open(sealed, 'dkim a')).toEqual(plain);
    expect(sealed.includes('private')).toBe(false);
    expect(sealed.equals(again)).toBe(false);
  });

  it('opens after the secret key was replaced, while the previous one is named', () => {
    const sealed = createSealing(OLD).seal(plain, 'dkim a');

    expect(createSealing(NEW, OLD).open(sealed, 'dkim a')).toEqual(plain);
    expect(() => createSealing(NEW).open(sealed, 'dkim a')).toThrow('SECRET_KEY_PREVIOUS');
  });

  it('is sealed under the current key while two are named', () => {
    expect(createSealing(NEW).open(createSealing(NEW, OLD).seal(plain, 'x'), 'x')).toEqual(plain);
  });

  it('does not open for another purpose', () => {
    const sealing = createSealing(OLD);

    expect(() => sealing.open(sealing.seal(plain, 'dkim a'), 'dkim b')).toThrow(SealError);
  });

  it('does not open with any byte changed or missing', () => {
    const sealing = createSealing(OLD);
    const sealed = sealing.seal(plain, 'x');

    for (let place = 0; place < sealed.length; place++) {
      const changed = Buffer.from(sealed);
      changed[place] = (changed[place] ?? 0) ^ 1;
      expect(() => sealing.open(changed, 'x'), `byte ${place}`).toThrow(SealError);
      expect(() => sealing.open(sealed.subarray(0, place), 'x'), `length ${place}`).toThrow(SealError);
    }
  });
});
