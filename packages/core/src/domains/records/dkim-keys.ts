import { createPublicKey, generateKeyPair, type KeyObject } from 'node:crypto';
import { promisify } from 'node:util';
import { newId } from '../../fields/ids.ts';
import type { Encryption } from '../../process/encryption.ts';

export const dkimAlgorithms = ['rsa', 'ed25519'] as const;
export type DkimAlgorithm = (typeof dkimAlgorithms)[number];

/** next: its record is to be published. active: it signs. retired: messages it signed are still in transit. */
export const keyRoles = ['next', 'active', 'retired'] as const;
export type KeyRole = (typeof keyRoles)[number];

/** Generated key pairs; the second only for a domain that requests it. */
export interface DkimPairs {
  readonly rsa: KeyObject;
  readonly ed25519: KeyObject | null;
}

export interface NewDkimKey {
  readonly id: string;
  readonly selector: string;
  readonly algorithm: DkimAlgorithm;
  readonly public_key: string;
  readonly encrypted_private_key: Buffer;
  readonly role: KeyRole;
  readonly wait_seconds: number;
}

const RSA_BITS = 2048;
const DEFAULT_SELECTOR = 'pr1';
const generate = promisify(generateKeyPair);

/** Generates the private keys of one domain. RSA takes 0.1 s or more, on the thread pool. */
export async function generateDkimPairs(with_ed25519 = false): Promise<DkimPairs> {
  const [rsa, ed25519] = await Promise.all([
    generate('rsa', { modulusLength: RSA_BITS }),
    with_ed25519 ? generateEd25519() : null,
  ]);
  return { rsa: rsa.privateKey, ed25519 };
}

export async function generateEd25519(): Promise<KeyObject> {
  const { privateKey } = await generate('ed25519', {});
  return privateKey;
}

// Until this time has passed, caches may hold a negative response, or the record of a key that had the same selector.
const LATER_WAIT_SECONDS = 86_400;

/** Encrypts the keys, each under its own selector; RSA comes first, because every receiver supports it. */
export function encryptDkimKeys(
  encryption: Encryption,
  pairs: DkimPairs,
  now_ms: number,
  selector: string = DEFAULT_SELECTOR,
  role: Extract<KeyRole, 'active' | 'next'> = 'active',
): [NewDkimKey, ...NewDkimKey[]] {
  const wait_seconds = role === 'next' ? LATER_WAIT_SECONDS : 0;
  const encryptKey = (algorithm: DkimAlgorithm, pair: KeyObject, own_selector: string): NewDkimKey =>
    encryptDkimKey(encryption, algorithm, pair, now_ms, own_selector, role, wait_seconds);
  const rsa = encryptKey('rsa', pairs.rsa, selector);
  return pairs.ed25519 === null ? [rsa] : [rsa, encryptKey('ed25519', pairs.ed25519, secondSelector(selector))];
}

/** Encrypts one key, by default for a domain that has been used before. */
export function encryptDkimKey(
  encryption: Encryption,
  algorithm: DkimAlgorithm,
  pair: KeyObject,
  now_ms: number,
  selector: string,
  role: KeyRole,
  wait_seconds: number = LATER_WAIT_SECONDS,
): NewDkimKey {
  const id = newId('dkim_key', now_ms);
  const plain = pair.export({ type: 'pkcs8', format: 'der' });
  const encrypted_private_key = encryption.encrypt(plain, encryptionPurpose(id));
  plain.fill(0);
  return { id, selector, algorithm, public_key: publicText(pair), encrypted_private_key, role, wait_seconds };
}

/** Returns the selector under which the second key of a pair is published. */
export function secondSelector(selector: string): string {
  return `${selector}-ed25519`;
}

/** Returns the selector of the next keys, alternating pr1 and pr2 so that old and new records can coexist. */
export function otherSelector(selector: string): string {
  if (selector.endsWith('2')) return `${selector.slice(0, -1)}1`;
  return `${selector.replace(/1$/, '').slice(0, 54)}2`;
}

export function encryptionPurpose(key_id: string): string {
  return `dkim ${key_id}`;
}

/** Returns the value of p=: the whole SPKI for RSA (RFC 6376), only the 32 octets for Ed25519 (RFC 8463). */
function publicText(key: KeyObject): string {
  const spki = createPublicKey(key).export({ type: 'spki', format: 'der' });
  return (key.asymmetricKeyType === 'ed25519' ? spki.subarray(-32) : spki).toString('base64');
}
