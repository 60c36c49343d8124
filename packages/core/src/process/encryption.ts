import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from 'node:crypto';

/** Encrypts secrets at rest. Data encrypted for one purpose cannot be decrypted for another. */
export interface Encryption {
  encrypt(plain: Buffer, purpose: string): Buffer;
  /** Throws a DecryptionError if none of this process's keys can decrypt it. */
  decrypt(encrypted: Buffer, purpose: string): Buffer;
  /** The position of the key id in the encrypted bytes. */
  readonly key_id_at: { readonly from: number; readonly bytes: number };
  /** The id of SECRET_KEY. */
  readonly key_id: Buffer;
  /** The ids of SECRET_KEY and SECRET_KEY_PREVIOUS. */
  readonly known_key_ids: readonly Buffer[];
}

export class DecryptionError extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'DecryptionError';
  }
}

interface RootKey {
  readonly id: Buffer;
  readonly key: Buffer;
}

// One byte for the version, eight for the root key's id, then the nonce, the ciphertext and the tag.
const FORM = 1;
const ID_BYTES = 8;
const NONCE_BYTES = 12;
const TAG_BYTES = 16;
const NONCE_AT = 1 + ID_BYTES;
const TEXT_AT = NONCE_AT + NONCE_BYTES;

/**
 * Encrypts with AES-256-GCM under keys derived from SECRET_KEY; also decrypts data encrypted under SECRET_KEY_PREVIOUS.
 */
export function createEncryption(secret_key: string, previous?: string): Encryption {
  const current = rootKey(secret_key);
  const known = previous === undefined ? [current] : [current, rootKey(previous)];
  return {
    key_id_at: { from: 1, bytes: ID_BYTES },
    key_id: current.id,
    known_key_ids: known.map(({ id }) => id),
    encrypt(plain, purpose) {
      const nonce = randomBytes(NONCE_BYTES);
      const head = Buffer.concat([Buffer.of(FORM), current.id, nonce]);
      const cipher = createCipheriv('aes-256-gcm', current.key, nonce).setAAD(covered(head, purpose));
      return Buffer.concat([head, cipher.update(plain), cipher.final(), cipher.getAuthTag()]);
    },
    decrypt(encrypted, purpose) {
      if (encrypted.length < TEXT_AT + TAG_BYTES || encrypted[0] !== FORM)
        throw new DecryptionError('this was not encrypted here');
      const id = encrypted.subarray(1, NONCE_AT);
      const root = known.find((one) => one.id.equals(id));
      if (!root)
        throw new DecryptionError('this was encrypted under another key than SECRET_KEY and SECRET_KEY_PREVIOUS');
      const head = encrypted.subarray(0, TEXT_AT);
      const decipher = createDecipheriv('aes-256-gcm', root.key, head.subarray(NONCE_AT))
        .setAAD(covered(head, purpose))
        .setAuthTag(encrypted.subarray(-TAG_BYTES));
      try {
        return Buffer.concat([decipher.update(encrypted.subarray(TEXT_AT, -TAG_BYTES)), decipher.final()]);
      } catch {
        throw new DecryptionError('what was encrypted has been changed, or was encrypted for another purpose');
      }
    },
  };
}

function rootKey(secret: string): RootKey {
  const derive = (use: string, bytes: number) =>
    Buffer.from(hkdfSync('sha256', secret, '', `encryption ${use}`, bytes));
  return { id: derive('id', ID_BYTES), key: derive('key', 32) };
}

function covered(head: Buffer, purpose: string): Buffer {
  return Buffer.concat([head, Buffer.from(purpose)]);
}
