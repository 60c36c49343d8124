import type { Sql, Tx } from '@postrider/db';
import type { Db } from 'pg-boss';

/** Lets pg-boss write through a transaction of ours, so that a job commits with the row it is about. */
export function inTransaction(tx: Tx | Sql): Db {
  return {
    executeSql: async (text, values) => {
      // pg-boss hands over plain parameters; postgres.js types them by what the server asks for.
      const rows = await tx.unsafe(text, (values ?? []) as never[], { prepare: true });
      return { rows: [...rows] };
    },
  };
}
