import { isOutage, type Replica, sqlState } from '@postrider/db';
import type { ActorContext } from './context.ts';
import { hasRecentWrites } from './recent-writes-store.ts';

// The replica canceled the query because it was delaying replay.
const RECOVERY_CONFLICT = '40001';
/**
 * The errors with which every standby rejects an unsupported feature (0A000) and a write (25006). An operation that
 * causes either should not have been routed to a standby.
 */
const NOT_FOR_STANDBYS = ['0A000', '25006'];

const warned_states = new WeakMap<Replica, Set<string>>();

/**
 * Runs a read on the replica if there is one, it is close behind, and it has the caller's own writes. Otherwise, or if
 * the replica fails, runs the read on the primary.
 */
export async function onReplica<T>(ctx: ActorContext, run: (ctx: ActorContext) => Promise<T>): Promise<T> {
  const { replica } = ctx;
  const sql = replica?.current() ?? null;
  if (!replica || !sql || ctx.actor.kind === 'system' || (await hasRecentWrites(ctx.sql, ctx.actor))) return run(ctx);
  try {
    return await run({ ...ctx, sql, primary: ctx.sql });
  } catch (error) {
    const state = sqlState(error) ?? '';
    const is_unavailable = NOT_FOR_STANDBYS.includes(state);
    if (is_unavailable) warnOnce(ctx, replica, state, error);
    if (is_unavailable || isOutage(error) || state === RECOVERY_CONFLICT) return run(ctx);
    throw error;
  }
}

function warnOnce(ctx: ActorContext, replica: Replica, state: string, error: unknown): void {
  const states = warned_states.get(replica) ?? new Set();
  warned_states.set(replica, states);
  if (states.has(state)) return;
  states.add(state);
  ctx.log.error({ err: error }, 'a query cannot run on the replica; used the primary instead');
}
