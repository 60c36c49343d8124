import type { Services } from '../../operation/context.ts';
import { deleteDropped } from './contents-store.ts';

const AT_ONCE = 500;

/** Deletes the contents of closed messages with `retain: "none"`. Concurrent runs skip each other's rows. */
export async function dropContents({ sql }: Pick<Services, 'sql'>): Promise<number> {
  let dropped = 0;
  for (;;) {
    const count = await sql.begin((tx) => deleteDropped(tx, AT_ONCE));
    dropped += count;
    if (count < AT_ONCE) return dropped;
  }
}
