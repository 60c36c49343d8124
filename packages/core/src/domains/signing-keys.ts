import { createPrivateKey } from 'node:crypto';
import type { Sql } from '@postrider/db';
import type { DkimKey } from '@postrider/mail';
import type { Sealing } from '../sealing.ts';
import { sealPurpose } from './dkim-keys.ts';
import { type SealedKey, sealedKeys } from './store.ts';

/** The private keys of this process, opened when they are first needed and kept by id: a key never changes. */
export interface SigningKeys {
  /** Reads what is not kept yet, for many messages in one query. */
  warm(ids: readonly string[]): Promise<void>;
  /** Those of one domain, in the order asked. Throws where one is missing or does not open. */
  of(ids: readonly string[]): Promise<readonly DkimKey[]>;
}

// A parsed RSA key takes some 3 kB.
const MOST_KEPT = 2000;
const NOTHING_READ: ReadonlyMap<string, SealedKey> = new Map();

export function createSigningKeys(sql: Sql, sealing: Sealing): SigningKeys {
  /** In the order of their last use. */
  const kept = new Map<string, DkimKey>();

  const keep = (id: string, key: DkimKey) => {
    kept.delete(id);
    kept.set(id, key);
    if (kept.size > MOST_KEPT) for (const oldest of kept.keys()) return void kept.delete(oldest);
  };
  const read = async (ids: readonly string[]) => {
    const missing = [...new Set(ids)].filter((id) => !kept.has(id));
    const rows = missing.length > 0 ? await sealedKeys(sql, missing) : [];
    return new Map(rows.map((row) => [row.id, row]));
  };
  const open = (row: SealedKey): DkimKey => {
    const der = sealing.open(row.sealed_private_key, sealPurpose(row.id));
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
          // Whoever signs with it meets the same fault and says so of its message.
        }
      }
    },
    async of(ids) {
      const rows = ids.every((id) => kept.has(id)) ? NOTHING_READ : await read(ids);
      return ids.map((id) => {
        const row = rows.get(id);
        const key = kept.get(id) ?? (row && open(row));
        if (!key) throw new Error('a signing key is no longer stored');
        keep(id, key);
        return key;
      });
    },
  };
}
