import { describe, expect, it } from 'vitest';
import { createEncryption, DecryptionError } from './encryption.ts';

const OLD = 'o'.repeat(64);
const NEW = 'n'.repeat(64);
const plain = Buffer.from('a private key');

describe('an encrypted value', () => {
  it('can be decrypted with the same key and purpose, and reveals nothing about its plaintext', () => {
    const encryption = createEncryption(OLD);

    const [encrypted, second] = [encryption.encrypt(plain, 'dkim a'), encryption.encrypt(plain, 'dkim a')];

    expect(encryption.decrypt(encrypted, 'dkim a')).toEqual(plain);
    expect(encrypted.includes('private')).toBe(false);
    expect(encrypted.equals(second)).toBe(false);
  });

  it('can be decrypted after the secret key is replaced, while the previous key is configured', () => {
    const encrypted = createEncryption(OLD).encrypt(plain, 'dkim a');

    expect(createEncryption(NEW, OLD).decrypt(encrypted, 'dkim a')).toEqual(plain);
    expect(() => createEncryption(NEW).decrypt(encrypted, 'dkim a')).toThrow('SECRET_KEY_PREVIOUS');
  });

  it('is encrypted with the current key when both keys are configured', () => {
    expect(createEncryption(NEW).decrypt(createEncryption(NEW, OLD).encrypt(plain, 'x'), 'x')).toEqual(plain);
  });

  it('cannot be decrypted for a different purpose', () => {
    const encryption = createEncryption(OLD);

    expect(() => encryption.decrypt(encryption.encrypt(plain, 'dkim a'), 'dkim b')).toThrow(DecryptionError);
  });

  it('cannot be decrypted if any byte is changed or missing', () => {
    const encryption = createEncryption(OLD);
    const encrypted = encryption.encrypt(plain, 'x');

    for (let place = 0; place < encrypted.length; place++) {
      const changed = Buffer.from(encrypted);
      changed[place] = (changed[place] ?? 0) ^ 1;
      expect(() => encryption.decrypt(changed, 'x'), `byte ${place}`).toThrow(DecryptionError);
      expect(() => encryption.decrypt(encrypted.subarray(0, place), 'x'), `length ${place}`).toThrow(DecryptionError);
    }
  });
});
