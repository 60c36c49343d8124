import { keyRefusal, refusalOfKey } from '../api-keys/index.ts';
import type { ActorContext } from '../operation/context.ts';
import { AppError } from '../operation/errors.ts';
import { isStillSame } from './sessions/still-same.ts';

/** Refuses a request that has waited, if its key or its session would be refused by now. */
export async function requireStillAdmitted(ctx: ActorContext): Promise<void> {
  const { actor, sql, address } = ctx;
  if (actor.kind === 'key') {
    const reason = await refusalOfKey(sql, actor.key_id, address);
    if (reason) throw keyRefusal(reason);
  }
  if (actor.kind === 'user' && !(await isStillSame(ctx, actor)))
    throw new AppError('session_ended', 'Your session has ended. Sign in and try again.');
}
