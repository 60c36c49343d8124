import type { Services } from '../../operation/context.ts';
import { openSecret } from '../posting/signing.ts';
import { readSecretPage } from './store.ts';

const PAGE = 1000;

/** Returns the ids of webhooks whose secret cannot be decrypted with any of this process's keys. */
export async function unopenedSecrets({ sql, encryption }: Pick<Services, 'sql' | 'encryption'>): Promise<string[]> {
  const unopened: string[] = [];
  for (let after: string | null = ''; after !== null; ) {
    const rows = await readSecretPage(sql, after, PAGE);
    for (const { id, secret, previous_secret } of rows) {
      try {
        for (const encrypted of [secret, previous_secret]) if (encrypted) openSecret(encryption, id, encrypted);
      } catch {
        unopened.push(id);
      }
    }
    after = rows.length < PAGE ? null : (rows.at(-1)?.id ?? null);
  }
  return unopened;
}
