import { createPrivateKey } from 'node:crypto';
import type { Sql } from '@postrider/db';
import type { DkimKey } from '@postrider/mail';
import type { SigningKeys } from '../../operation/ports.ts';
import type { Encryption } from '../../process/encryption.ts';
import { encryptionPurpose } from '../records/dkim-keys.ts';
import { type EncryptedKey, encryptedKeys } from '../store.ts';

// A parsed RSA key takes about 3 kB.
const MAX_KEPT = 2000;
const NOTHING_READ: ReadonlyMap<string, EncryptedKey> = new Map();

export function createSigningKeys(sql: Sql, encryption: Encryption): SigningKeys {
  /** In order of last use. */
  const keys = new Map<string, DkimKey>();

  const keep = (id: string, key: DkimKey) => {
    keys.delete(id);
    keys.set(id, key);
    if (keys.size > MAX_KEPT) for (const oldest of keys.keys()) return void keys.delete(oldest);
  };
  const read = async (ids: readonly string[]) => {
    const missing = [...new Set(ids)].filter((id) => !keys.has(id));
    const rows = missing.length > 0 ? await encryptedKeys(sql, missing) : [];
    return new Map(rows.map((row) => [row.id, row]));
  };
  const open = (row: EncryptedKey): DkimKey => {
    const der = encryption.decrypt(row.encrypted_private_key, encryptionPurpose(row.id));
    const private_key = createPrivateKey({ key: der, format: 'der', type: 'pkcs8' });
    der.fill(0);
    return { domain: row.domain, selector: row.selector, private_key };
  };
  return {
    async warm(ids) {
      for (const row of (await read(ids)).values()) {
        try {
          keep(row.id, open(row));
        } catch {
          // The signer hits the same error and reports it for its message.
        }
      }
    },
    async of(ids) {
      const rows = ids.every((id) => keys.has(id)) ? NOTHING_READ : await read(ids);
      return ids.map((id) => {
        const row = rows.get(id);
        const key = keys.get(id) ?? (row && open(row));
        if (!key) throw new Error('a signing key is no longer stored');
        keep(id, key);
        return key;
      });
    },
  };
}
