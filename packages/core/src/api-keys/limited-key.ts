import type { ActorContext } from '../operation/context.ts';
import { AppError } from '../operation/errors.ts';
import { accessBeyond } from './store.ts';

/**
 * Rejects creation of a user, login or workspace by a restricted key: those carry no such restriction and would outlive
 * the key.
 */
export async function refuseLimitedKey({ actor, sql }: Pick<ActorContext, 'actor' | 'sql'>): Promise<void> {
  if (actor.kind !== 'key') return;
  const { later: exceeds_expiry, elsewhere: exceeds_ips } = await accessBeyond(sql, actor, {
    allowed_ips: null,
    expires_at: null,
  });
  const limits = [exceeds_expiry && 'expires_at', exceeds_ips && 'allowed_ips', actor.domains && 'domains'].filter(
    (limit) => typeof limit === 'string',
  );
  if (limits.length === 0) return;
  throw new AppError(
    'missing_scope',
    `This key is restricted by ${limits.join(', ')}, but what it creates would not be. Use a key without these restrictions.`,
    { required_scope: 'operator' },
  );
}
