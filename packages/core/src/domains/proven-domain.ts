import type { Tx } from '@postrider/db';
import { newId } from '../ids.ts';
import type { Sealing } from '../sealing.ts';
import { type DkimPairs, sealDkimKeys } from './dkim-keys.ts';
import { insertDomain } from './store.ts';

/** A domain that needs no proof, because whoever runs this service adds it: verified, and signing with both keys. */
export async function insertProvenDomain(
  tx: Tx,
  sealing: Sealing,
  domain: { readonly workspace_id: string; readonly name: string; readonly sandbox: boolean },
  pairs: DkimPairs,
  now_ms: number,
): Promise<void> {
  const { rsa, ed25519 } = sealDkimKeys(sealing, pairs, now_ms);
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
