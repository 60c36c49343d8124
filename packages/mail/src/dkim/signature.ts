import { hash, type KeyObject, sign } from 'node:crypto';

/** A text and the key that signs the text. A message has one part for each key. */
export interface UnsignedPart {
  readonly text: string;
  readonly key: KeyObject;
}

/**
 * Returns the signature of a text with an RSA or Ed25519 key, in base64. An RSA signature takes a quarter of a
 * millisecond.
 */
export function signHere({ text, key }: UnsignedPart): string {
  const { algorithm, data } = inputOf(text, key);
  return sign(algorithm, data, key).toString('base64');
}

/** Computes all signatures of a message, in parallel on the process's thread pool. */
export function signOnPool(mail: readonly UnsignedPart[]): Promise<string[]> {
  return Promise.all(
    mail.map(({ text, key }) => {
      const { algorithm, data } = inputOf(text, key);
      return new Promise<string>((resolve, reject) => {
        sign(algorithm, data, key, (error, signature) =>
          error ? reject(error) : resolve(signature.toString('base64')),
        );
      });
    }),
  );
}

function inputOf(text: string, { asymmetricKeyType: type }: KeyObject): { algorithm: string | null; data: Buffer } {
  const data = Buffer.from(text, 'latin1');
  // RFC 8463 section 3: Ed25519 signs the hash.
  return type === 'rsa' ? { algorithm: 'sha256', data } : { algorithm: null, data: hash('sha256', data, 'buffer') };
}
