import { isOutage, sqlState } from '@postrider/db';
import type { ActorContext } from './context.ts';
import { wroteLately } from './recent-writes-store.ts';

// A query that the replica ended because it kept the replay waiting.
const RECOVERY_CONFLICT = '40001';

/**
 * Runs a read on the replica, where there is one that is close behind and the caller's own writes are on it; on the
 * primary otherwise, and again there where the replica fails.
 */
export async function onReplica<T>(ctx: ActorContext, run: (ctx: ActorContext) => Promise<T>): Promise<T> {
  const sql = ctx.replica?.current() ?? null;
  if (sql === null || ctx.actor.kind === 'system' || (await wroteLately(ctx.sql, ctx.actor))) return run(ctx);
  try {
    return await run({ ...ctx, sql, primary: ctx.sql });
  } catch (error) {
    if (isOutage(error) || sqlState(error) === RECOVERY_CONFLICT) return run(ctx);
    throw error;
  }
}
