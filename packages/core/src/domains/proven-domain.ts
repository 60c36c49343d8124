import type { Tx } from '@postrider/db';
import { newId } from '../fields/ids.ts';
import type { Encryption } from '../process/encryption.ts';
import { type DkimPairs, encryptDkimKeys } from './records/dkim-keys.ts';
import { insertDomain } from './store.ts';

/**
 * Inserts a domain added by the operator of this service, which needs no proof: verified, and signing with all of its
 * keys.
 */
export async function insertProvenDomain(
  tx: Tx,
  encryption: Encryption,
  domain: { readonly workspace_id: string; readonly name: string; readonly sandbox: boolean },
  pairs: DkimPairs,
  now_ms: number,
): Promise<void> {
  const keys = encryptDkimKeys(encryption, pairs, now_ms);
  await insertDomain(tx, {
    ...domain,
    id: newId('domain', now_ms),
    status: 'verified',
    ownership_token: null,
    return_path: null,
    dkim_ed25519: pairs.ed25519 !== null,
    keys,
    signing_key_ids: keys.map(({ id }) => id),
    checked: false,
  });
}
