import type { ActorContext } from './context.ts';
import { AppError } from './errors.ts';
import { isFresh } from './fresh-sign-in-store.ts';

/**
 * Refuses a session that was begun long ago to do what would outlive it or cannot be undone: somebody may have found the
 * browser open. Keys have no password to show, and are not asked.
 */
export async function requireFreshSignIn({ actor, sql }: Pick<ActorContext, 'actor' | 'sql'>): Promise<void> {
  if (actor.kind !== 'user' || (await isFresh(sql, actor.session_id))) return;
  throw new AppError(
    'reauthentication_required',
    'You signed in more than an hour ago; confirm your password at /login/confirm, or sign in anew, and try again.',
  );
}
