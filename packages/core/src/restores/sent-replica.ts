import type { Sql } from '@postrider/db';
import type { KnownSent } from './known-sent.ts';
import { knownAmong, messagesFrom } from './store.ts';

/**
 * Reads from a database that was not lost, such as a standby of the lost database, or a server started separately on
 * the lost database's disk.
 */
export function readReplica(name: string, sql: Sql): KnownSent {
  return {
    name,
    unclear_lines: { count: 0, listed: [] },
    async lookup(keys) {
      const known = await knownAmong(sql, keys);
      return keys.map(({ recipient_id }) => known.get(recipient_id) ?? null);
    },
    messagesFrom: (id, count) => messagesFrom(sql, id, count),
  };
}
