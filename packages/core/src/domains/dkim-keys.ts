import { createPublicKey, generateKeyPair, type KeyObject } from 'node:crypto';
import { promisify } from 'node:util';
import { newId } from '../ids.ts';
import type { Sealing } from '../sealing.ts';

export type DkimAlgorithm = 'rsa' | 'ed25519';

/** A pair for each algorithm, as it leaves the generator. */
export type DkimPairs = Readonly<Record<DkimAlgorithm, KeyObject>>;

/** A key as it is stored. */
export interface NewDkimKey {
  readonly id: string;
  readonly selector: string;
  readonly algorithm: DkimAlgorithm;
  readonly public_key: string;
  readonly sealed_private_key: Buffer;
}

const RSA_BITS = 2048;
const DEFAULT_SELECTOR = 'pr1';
const generate = promisify(generateKeyPair);

/** Private keys for one domain. RSA takes a tenth of a second or more, on the thread pool. */
export async function generateDkimPairs(): Promise<DkimPairs> {
  const [rsa, ed25519] = await Promise.all([generate('rsa', { modulusLength: RSA_BITS }), generate('ed25519', {})]);
  return { rsa: rsa.privateKey, ed25519: ed25519.privateKey };
}

/** Both keys with selectors of their own, RSA first: every receiver knows it. */
export function sealDkimKeys(
  sealing: Sealing,
  pairs: DkimPairs,
  now_ms: number,
  selector: string = DEFAULT_SELECTOR,
): { readonly rsa: NewDkimKey; readonly ed25519: NewDkimKey } {
  const sealKey = (algorithm: DkimAlgorithm, own_selector: string): NewDkimKey => {
    const id = newId('dkim_key', now_ms);
    const plain = pairs[algorithm].export({ type: 'pkcs8', format: 'der' });
    const sealed_private_key = sealing.seal(plain, sealPurpose(id));
    plain.fill(0);
    return { id, selector: own_selector, algorithm, public_key: publicText(pairs[algorithm]), sealed_private_key };
  };
  return { rsa: sealKey('rsa', selector), ed25519: sealKey('ed25519', `${selector}-ed25519`) };
}

export function sealPurpose(key_id: string): string {
  return `dkim ${key_id}`;
}

/** What p= holds: RFC 6376 has the whole SPKI for RSA, RFC 8463 the 32 octets alone for Ed25519. */
function publicText(key: KeyObject): string {
  const spki = createPublicKey(key).export({ type: 'spki', format: 'der' });
  return (key.asymmetricKeyType === 'ed25519' ? spki.subarray(-32) : spki).toString('base64');
}
