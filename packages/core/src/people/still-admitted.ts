import { keyRefusal, keyRefusalFrom } from '../api-keys/index.ts';
import type { ActorContext, Context } from '../operation/context.ts';
import { AppError } from '../operation/errors.ts';
import { isStillSame } from './sessions/still-same.ts';

/** Long enough to mean that a request waited for its body, not just for the network. */
const RECHECK_MS = 1000;

/** Rechecks the key or session if the last check was too long ago, because a body can be held back for minutes. */
export async function requireAdmittedSince(ctx: Context, checked_at: number): Promise<void> {
  const { actor } = ctx;
  // A credential is checked by the batch that stores its message.
  if (actor.kind === 'credential' || performance.now() - checked_at <= RECHECK_MS) return;
  await requireStillAdmitted({ ...ctx, actor });
}

/** Rejects a request that has waited if its key or session would be rejected by now. */
export async function requireStillAdmitted(ctx: ActorContext): Promise<void> {
  const { actor, sql, address } = ctx;
  if (actor.kind === 'key') {
    const reason = await keyRefusalFrom(sql, actor.key_id, address);
    if (reason) throw keyRefusal(reason);
  }
  if (actor.kind === 'user' && !(await isStillSame(ctx, actor)))
    throw new AppError('session_ended', 'Your session has ended. Sign in and try again.');
}
