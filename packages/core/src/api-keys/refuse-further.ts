import type { ActorContext } from '../context.ts';
import { AppError } from '../errors.ts';
import { keyDomainProblem } from './key-domains.ts';
import { hasScope } from './scopes.ts';
import { type NewKeyRow, reachesBeyond } from './store.ts';

/** A key is never made by one that reaches less far: in scopes, mode, domains, addresses or time. */
export async function refuseFurther(
  { actor, sql }: ActorContext,
  wanted: Pick<NewKeyRow, 'scopes' | 'mode' | 'domains' | 'allowed_ips' | 'expires_at'>,
): Promise<void> {
  const missing = actor.kind !== 'system' ? wanted.scopes.find((scope) => !hasScope(actor.scopes, scope)) : undefined;
  if (missing) {
    throw new AppError('missing_scope', `A key cannot grant ${missing} because it lacks that scope itself.`, {
      required_scope: missing,
    });
  }
  if (actor.kind !== 'key') return;
  if (actor.mode === 'sandbox' && wanted.mode === 'live') {
    throw new AppError('missing_scope', 'A sandbox key cannot make a live one; use a live key.', {
      required_scope: 'admin',
    });
  }
  if (actor.domains && !within(actor.domains, wanted.domains)) {
    throw new AppError(
      'key_domain_restricted',
      `This key may send from ${actor.domains.join(', ')} only, so domains of the new key must name some of these.`,
    );
  }
  const beyond = await reachesBeyond(sql, actor, wanted);
  if (!beyond.later && !beyond.elsewhere) return;
  const what = beyond.later
    ? 'expires_at must be no later than that of the key that makes it'
    : 'allowed_ips must lie within those of the key that makes it';
  throw new AppError('missing_scope', `A key cannot make one that reaches further: ${what}.`, {
    required_scope: 'admin',
  });
}

/** A key for any domain reaches further than one for some. */
function within(domains: readonly string[], wanted: readonly string[] | null): boolean {
  return Boolean(wanted?.every((name) => keyDomainProblem(domains, name) === null));
}
