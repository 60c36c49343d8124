import type { ActorContext } from '../context.ts';
import { AppError } from '../errors.ts';
import { reachesBeyond } from './store.ts';

/**
 * Refuses a key with limits to make what knows none: a person, a login or a workspace would outlive the key, work from
 * where it does not, and send what it may not.
 */
export async function refuseLimitedKey({ actor, sql }: Pick<ActorContext, 'actor' | 'sql'>): Promise<void> {
  if (actor.kind !== 'key') return;
  const { later, elsewhere } = await reachesBeyond(sql, actor, { allowed_ips: null, expires_at: null });
  const limits = [later && 'expires_at', elsewhere && 'allowed_ips', actor.domains && 'domains'].filter(
    (limit) => typeof limit === 'string',
  );
  if (limits.length === 0) return;
  throw new AppError(
    'missing_scope',
    `This key is limited by ${limits.join(', ')}, which what it makes would not be; use a key without limits.`,
    { required_scope: 'operator' },
  );
}
