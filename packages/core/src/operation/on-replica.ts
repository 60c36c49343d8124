import { isOutage, type Replica, sqlState } from '@postrider/db';
import type { ActorContext } from './context.ts';
import { wroteLately } from './recent-writes-store.ts';

// A query that the replica ended because it kept the replay waiting.
const RECOVERY_CONFLICT = '40001';
/** What a standby refuses by its nature: a feature it has not, and a write. The operation should not have been sent there. */
const NOT_FOR_STANDBYS = ['0A000', '25006'];

const warned_states = new WeakMap<Replica, Set<string>>();

/**
 * Runs a read on the replica, where there is one that is close behind and the caller's own writes are on it; on the
 * primary otherwise, and again there where the replica fails.
 */
export async function onReplica<T>(ctx: ActorContext, run: (ctx: ActorContext) => Promise<T>): Promise<T> {
  const { replica } = ctx;
  const sql = replica?.current() ?? null;
  if (!replica || !sql || ctx.actor.kind === 'system' || (await wroteLately(ctx.sql, ctx.actor))) return run(ctx);
  try {
    return await run({ ...ctx, sql, primary: ctx.sql });
  } catch (error) {
    const state = sqlState(error) ?? '';
    const is_unavailable = NOT_FOR_STANDBYS.includes(state);
    if (is_unavailable) tellOnce(ctx, replica, state, error);
    if (is_unavailable || isOutage(error) || state === RECOVERY_CONFLICT) return run(ctx);
    throw error;
  }
}

function tellOnce(ctx: ActorContext, replica: Replica, state: string, error: unknown): void {
  const states = warned_states.get(replica) ?? new Set();
  warned_states.set(replica, states);
  if (states.has(state)) return;
  states.add(state);
  ctx.log.error({ err: error }, 'a query cannot run on the replica; the primary answered it');
}
