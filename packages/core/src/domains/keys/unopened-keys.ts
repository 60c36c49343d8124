import type { Services } from '../../operation/context.ts';
import { encryptionPurpose } from '../records/dkim-keys.ts';
import { readEncryptedKeyPage } from '../store.ts';

const PAGE = 1000;

/** Returns the ids of DKIM keys that this process cannot decrypt. */
export async function unopenedKeys({ sql, encryption }: Pick<Services, 'sql' | 'encryption'>): Promise<string[]> {
  const unopened: string[] = [];
  for (let after: string | null = ''; after !== null; ) {
    const rows = await readEncryptedKeyPage(sql, after, PAGE);
    for (const { id, encrypted_private_key } of rows) {
      try {
        encryption.decrypt(encrypted_private_key, encryptionPurpose(id)).fill(0);
      } catch {
        unopened.push(id);
      }
    }
    after = rows.length < PAGE ? null : (rows.at(-1)?.id ?? null);
  }
  return unopened;
}
