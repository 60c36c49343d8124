import type { ActorContext } from './context.ts';
import { AppError } from './errors.ts';
import { isFresh } from './fresh-sign-in-store.ts';

/**
 * Requires a recent sign-in or password confirmation before an action that outlives the session or cannot be undone,
 * because the browser may have been left open. API keys have no password and pass.
 */
export async function requireFreshSignIn({ actor, sql }: Pick<ActorContext, 'actor' | 'sql'>): Promise<void> {
  if (actor.kind !== 'user' || (await isFresh(sql, actor.session_id))) return;
  throw new AppError(
    'reauthentication_required',
    'You signed in more than an hour ago; confirm your password at /login/confirm, or sign in again, and retry.',
  );
}
