import type { Services } from '../operation/context.ts';
import { allTransports } from './store.ts';
import { transportPurpose } from './transport.ts';

/** Returns the names of transports whose password this process cannot decrypt. */
export async function unopenedPasswords({ sql, encryption }: Pick<Services, 'sql' | 'encryption'>): Promise<string[]> {
  return (await allTransports(sql)).flatMap(({ id, name, password }) => {
    try {
      if (password) encryption.decrypt(password, transportPurpose(id)).fill(0);
      return [];
    } catch {
      return [name];
    }
  });
}
