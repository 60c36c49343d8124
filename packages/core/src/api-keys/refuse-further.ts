import type { Actor, ActorContext } from '../operation/context.ts';
import { AppError } from '../operation/errors.ts';
import { hasScope, type Scope } from '../operation/scopes.ts';
import { keyDomainProblem } from './key-domains.ts';
import { accessBeyond, type NewKeyRow } from './store.ts';

/** Rejects a new key with more access than the key that creates it: scopes, mode, domains, addresses or lifetime. */
export async function refuseFurther(
  { actor, sql }: ActorContext,
  fields: Pick<NewKeyRow, 'scopes' | 'mode' | 'domains' | 'allowed_ips' | 'expires_at'>,
): Promise<void> {
  refuseScopesBeyond(actor, fields.scopes, 'grant');
  if (actor.kind !== 'key') return;
  if (actor.mode === 'sandbox' && fields.mode === 'live') {
    throw new AppError('missing_scope', 'A sandbox key cannot create a live key. Use a live key.', {
      required_scope: 'admin',
    });
  }
  if (actor.domains && !within(actor.domains, fields.domains)) {
    throw new AppError(
      'key_domain_restricted',
      `This key can send from ${actor.domains.join(', ')} only, so the new key must be restricted to some of these domains.`,
    );
  }
  const excess = await accessBeyond(sql, actor, fields);
  if (!excess.later && !excess.elsewhere) return;
  const rule = excess.later
    ? 'expires_at must be no later than that of the creating key'
    : 'allowed_ips must be within those of the creating key';
  throw new AppError('missing_scope', `A key cannot create one with more access: ${rule}.`, {
    required_scope: 'admin',
  });
}

/**
 * Returns whether a key for the allowed domains has no access beyond the given domains. A key for any domain has more
 * access than one restricted to some.
 */
function within(domains: readonly string[], allowed: readonly string[] | null): boolean {
  return Boolean(allowed?.every((name) => keyDomainProblem(domains, name) === null));
}

/**
 * Throws if the actor lacks one of the scopes: without a scope, an actor can neither create a key with it nor revoke
 * one.
 */
export function refuseScopesBeyond(actor: Actor, scopes: readonly Scope[], act: 'grant' | 'revoke a key with'): void {
  const missing = actor.kind !== 'system' ? scopes.find((scope) => !hasScope(actor.scopes, scope)) : undefined;
  if (!missing) return;
  throw new AppError('missing_scope', `A key cannot ${act} ${missing} because it lacks that scope itself.`, {
    required_scope: missing,
  });
}
