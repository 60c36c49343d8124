import type { Services } from '../../operation/context.ts';
import { deleteUnkeptBatch } from './contents-store.ts';

const CONCURRENCY = 500;

/** Deletes the contents of closed messages with `retain: "none"`. Concurrent runs skip each other's rows. */
export async function deleteUnkeptContents({ sql }: Pick<Services, 'sql'>): Promise<number> {
  let deleted = 0;
  for (;;) {
    const count = await sql.begin((tx) => deleteUnkeptBatch(tx, CONCURRENCY));
    deleted += count;
    if (count < CONCURRENCY) return deleted;
  }
}
