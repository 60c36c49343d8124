import { createPublicKey, generateKeyPair, type KeyObject } from 'node:crypto';
import { promisify } from 'node:util';
import { newId } from '../ids.ts';
import type { Sealing } from '../sealing.ts';
import type { KeyRole } from './dns-records.ts';

export const dkimAlgorithms = ['rsa', 'ed25519'] as const;
export type DkimAlgorithm = (typeof dkimAlgorithms)[number];

/** A pair for each algorithm, as it leaves the generator. */
export type DkimPairs = Readonly<Record<DkimAlgorithm, KeyObject>>;

/** A key as it is stored. */
export interface NewDkimKey {
  readonly id: string;
  readonly selector: string;
  readonly algorithm: DkimAlgorithm;
  readonly public_key: string;
  readonly sealed_private_key: Buffer;
  readonly role: KeyRole;
  readonly wait_seconds: number;
}

const RSA_BITS = 2048;
const DEFAULT_SELECTOR = 'pr1';
const generate = promisify(generateKeyPair);

/** Private keys for one domain. RSA takes a tenth of a second or more, on the thread pool. */
export async function generateDkimPairs(): Promise<DkimPairs> {
  const [rsa, ed25519] = await Promise.all([generate('rsa', { modulusLength: RSA_BITS }), generate('ed25519', {})]);
  return { rsa: rsa.privateKey, ed25519: ed25519.privateKey };
}

// Until then caches may hold that there is no such record, or the one that stood there a rotation ago.
const ROTATION_WAIT_SECONDS = 86_400;

/** Both keys with selectors of their own, RSA first: every receiver knows it. */
export function sealDkimKeys(
  sealing: Sealing,
  pairs: DkimPairs,
  now_ms: number,
  selector: string = DEFAULT_SELECTOR,
  role: Extract<KeyRole, 'active' | 'next'> = 'active',
): { readonly rsa: NewDkimKey; readonly ed25519: NewDkimKey } {
  const sealKey = (algorithm: DkimAlgorithm, own_selector: string): NewDkimKey => {
    const id = newId('dkim_key', now_ms);
    const plain = pairs[algorithm].export({ type: 'pkcs8', format: 'der' });
    const sealed_private_key = sealing.seal(plain, sealPurpose(id));
    plain.fill(0);
    const public_key = publicText(pairs[algorithm]);
    const wait_seconds = role === 'next' ? ROTATION_WAIT_SECONDS : 0;
    return { id, selector: own_selector, algorithm, public_key, sealed_private_key, role, wait_seconds };
  };
  return { rsa: sealKey('rsa', selector), ed25519: sealKey('ed25519', `${selector}-ed25519`) };
}

/** The selector that the next keys get, so that the records of both stand side by side: pr1 and pr2 take turns. */
export function otherSelector(selector: string): string {
  if (selector.endsWith('2')) return `${selector.slice(0, -1)}1`;
  return `${selector.replace(/1$/, '').slice(0, 54)}2`;
}

export function sealPurpose(key_id: string): string {
  return `dkim ${key_id}`;
}

/** What p= holds: RFC 6376 has the whole SPKI for RSA, RFC 8463 the 32 octets alone for Ed25519. */
function publicText(key: KeyObject): string {
  const spki = createPublicKey(key).export({ type: 'spki', format: 'der' });
  return (key.asymmetricKeyType === 'ed25519' ? spki.subarray(-32) : spki).toString('base64');
}
