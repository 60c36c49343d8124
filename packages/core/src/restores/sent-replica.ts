import type { Sql } from '@postrider/db';
import type { KnownSent } from './known-sent.ts';
import { closedAmong, messagesFrom } from './store.ts';

/** A database that was not lost, such as a standby of the one that was, or its disk brought up apart. */
export function readReplica(name: string, sql: Sql): KnownSent {
  return {
    name,
    async lookup(asked) {
      const closed = await closedAmong(sql, asked);
      return asked.map(({ recipient_id }) => (closed.has(recipient_id) ? 'sent' : null));
    },
    messagesFrom: (id, count) => messagesFrom(sql, id, count),
  };
}
