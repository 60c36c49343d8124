import type { Tx } from '@postrider/db';
import { newId } from '../fields/ids.ts';
import type { Encryption } from '../process/encryption.ts';
import { type DkimPairs, encryptDkimKeys } from './records/dkim-keys.ts';
import { insertDomain } from './store.ts';

/** A domain added by the operator of this service, which needs no proof: verified, and signing with both keys. */
export async function insertProvenDomain(
  tx: Tx,
  encryption: Encryption,
  domain: { readonly workspace_id: string; readonly name: string; readonly sandbox: boolean },
  pairs: DkimPairs,
  now_ms: number,
): Promise<void> {
  const { rsa, ed25519 } = encryptDkimKeys(encryption, pairs, now_ms);
  await insertDomain(tx, {
    ...domain,
    id: newId('domain', now_ms),
    status: 'verified',
    ownership_token: null,
    return_path: null,
    keys: [rsa, ed25519],
    signing_key_ids: [rsa.id, ed25519.id],
    checked: false,
  });
}
