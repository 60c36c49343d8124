import type { Actor } from './context.ts';
import { AppError } from './errors.ts';
import { hasScope, type Scope } from './scopes.ts';

/** Returns the 403 for an actor that lacks a scope, or null. */
export function scopeRefusal(
  actor: { readonly kind: string; readonly scopes?: readonly Scope[] },
  scope: Scope,
): AppError | null {
  if (actor.kind === 'system' || (actor.scopes && hasScope(actor.scopes, scope))) return null;
  const message =
    actor.kind === 'user'
      ? `This requires the scope ${scope}, which your role in this workspace does not have.`
      : `This requires the scope ${scope}. Use a key that has it.`;
  return new AppError('missing_scope', message, { required_scope: scope });
}

/** Returns the 403 for a person who must add a second factor before anything else, or null. */
export function factorRefusal(actor: Actor): AppError | null {
  if (actor.kind !== 'user' || !actor.factor_due) return null;
  return new AppError('factor_required', 'Add an authenticator app in Settings → Account first: a policy requires it.');
}
