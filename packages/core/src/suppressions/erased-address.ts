import { createHmac } from 'node:crypto';
import type { Sql, Tx } from '@postrider/db';
import type { Services } from '../operation/context.ts';
import type { Encryption } from '../process/encryption.ts';
import { hashKeyPurpose, readHashKey } from './hash-key-store.ts';

// RFC 2606 reserves this name, so no address can exist there.
const DOMAIN = 'erased.invalid';
const HEX_DIGITS = 40;

/** The placeholder for an address that was erased. */
export const ERASED_ADDRESS = `erased@${DOMAIN}`;

/** Returns whether a lowercase address is the placeholder of an erased one. */
export function isErasedAddress(email: string): boolean {
  return email.endsWith(`@${DOMAIN}`);
}

const keys = new WeakMap<Encryption, Promise<Buffer>>();

function hashKeyOf({ sql, encryption }: { readonly sql: Sql | Tx; readonly encryption: Encryption }): Promise<Buffer> {
  const known = keys.get(encryption);
  if (known) return known;
  const read = readHashKey(sql).then(({ id, encrypted_key }) => encryption.decrypt(encrypted_key, hashKeyPurpose(id)));
  keys.set(encryption, read);
  read.catch(() => keys.delete(encryption));
  return read;
}

/**
 * Returns the form in which suppressions of erased addresses are stored: each is an address of its own, so that it is
 * listed, counted and deleted like any other. Recovering the original address requires the key and a guess of the
 * address.
 */
export async function erasedAddresses(
  services: Pick<Services, 'encryption'> & { readonly sql: Sql | Tx },
  emails: readonly string[],
): Promise<string[]> {
  const key = await hashKeyOf(services);
  return emails.map((email) => {
    const hash = createHmac('sha256', key).update(email.toLowerCase()).digest('hex').slice(0, HEX_DIGITS);
    return `${hash}@${DOMAIN}`;
  });
}
