import { randomBytes, randomUUID } from 'node:crypto';
import type { Tx } from '@postrider/db';
import type { Encryption } from '../process/encryption.ts';

const KEY_BYTES = 32;

export const hashKeyPurpose = (id: string) => `key of the suppression hash ${id}`;

/**
 * Creates the random key under which erased addresses are hashed, if there is none. It is not derived from SECRET_KEY,
 * so that a rotation leaves the hashes valid. The caller holds the provisioning lock, so only one process creates it.
 */
export async function ensureHashKey(tx: Tx, encryption: Encryption): Promise<void> {
  const id = randomUUID();
  const key = randomBytes(KEY_BYTES);
  const encrypted = encryption.encrypt(key, hashKeyPurpose(id)).toString('hex');
  key.fill(0);
  await tx`
    insert into suppression_hash_keys (id, encrypted_key, created_at)
    select ${id}::uuid, decode(${encrypted}, 'hex'), clock_now()
    where not exists (select from suppression_hash_keys)`;
}
