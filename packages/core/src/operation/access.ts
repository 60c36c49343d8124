import { z } from 'zod';
import { isId } from '../fields/ids.ts';
import { modeFilter, openMail } from './access-store.ts';
import type { Actor, ActorContext } from './context.ts';
import { AppError } from './errors.ts';
import { isKept } from './retention.ts';
import { scopeRefusal } from './scope-refusal.ts';
import { hasScope, type Scope } from './scopes.ts';
import type { KeyMode } from './secrets.ts';

// Access scope: an operator administers the instance and every workspace, an admin their own workspace. A workspace
// outside the scope appears not to exist. A sandbox key sees only messages, keys and webhooks of its mode, whatever its
// scopes. Resources without a mode, such as domains, also affect live messages, so a sandbox key needs their scope by
// name; admin is not enough. Anything that only admin grants, such as holds and members, requires a live key.

/** Stands for the whole instance in columns that otherwise hold a workspace id. */
export const INSTANCE = '';

export const accessScopes = ['workspace', 'instance'] as const;
export type AccessScope = (typeof accessScopes)[number];

export const accessField = z.enum(accessScopes).optional().meta({
  description:
    'workspace needs admin and is what an admin gets; instance needs operator and is what an operator without admin gets.',
});

const scopeOf: Record<AccessScope, Scope> = { workspace: 'admin', instance: 'operator' };

export function isOperator(actor: Actor): boolean {
  return scopeRefusal(actor, 'operator') === null;
}

export function mayAccess(actor: Actor, workspace_id: string): boolean {
  return isOperator(actor) || (workspace_id === actor.workspace_id && scopeRefusal(actor, 'admin') === null);
}

/** Throws unless the actor administers the instance or, if that is enough, their own workspace. */
export function requireAdministrator(actor: Actor, scope: AccessScope = 'workspace'): void {
  const refusal = isOperator(actor) ? null : scopeRefusal(actor, scopeOf[scope]);
  if (refusal) throw refusal;
}

/**
 * Returns the named workspace, by default the actor's own. Does not check whether a workspace named by an operator
 * exists.
 */
export function accessibleWorkspace(
  { actor }: Pick<ActorContext, 'actor'>,
  workspace_param: string | undefined,
): string {
  const workspace_id = workspace_param ?? actor.workspace_id;
  requireAdministrator(actor);
  if (!mayAccess(actor, workspace_id)) throw workspaceNotFound(workspace_id);
  return workspace_id;
}

export function workspaceNotFound(id: string): AppError {
  return new AppError('workspace_not_found', `No workspace ${id.slice(0, 64)} exists where you may act.`);
}

/** Returns the workspace ids whose rows an actor may list: the actor's own, the instance's (INSTANCE), or both. */
export function ownAccess(actor: Actor): string[] {
  requireAdministrator(actor);
  return [...(scopeRefusal(actor, 'admin') ? [] : [actor.workspace_id]), ...(isOperator(actor) ? [INSTANCE] : [])];
}

/**
 * Returns the id under which statistics and logs are read: the actor's workspace or the instance. Each requires its own
 * scope: operator alone does not grant access to a workspace.
 */
export function accessibleSide({ actor }: Pick<ActorContext, 'actor'>, scope: AccessScope | undefined): string {
  const reach = scope ?? usualAccess(actor);
  const refusal = scopeRefusal(actor, scopeOf[reach]);
  if (refusal) throw refusal;
  return reach === 'instance' ? INSTANCE : actor.workspace_id;
}

function usualAccess(actor: Actor): AccessScope {
  if (actor.kind === 'system') return 'instance';
  const operates = hasScope(actor.scopes, 'operator') && !hasScope(actor.scopes, 'admin');
  return operates ? 'instance' : 'workspace';
}

/** Returns the 403 for a sandbox key on an operation that also affects live messages, or null. */
export function sandboxRefusal(
  actor: Actor,
  { sandbox, scope }: { readonly sandbox: boolean; readonly scope: Scope | null },
): AppError | null {
  if (actor.kind !== 'key' || accessibleMode(actor) === null || sandbox) return null;
  const needed = scope ?? 'admin';
  // A sandbox key needs email:logs:read to read its own messages, so having that scope by name must not grant access to
  // anything beyond them.
  const is_specific = needed !== 'admin' && needed !== 'operator' && needed !== 'email:logs:read';
  if (is_specific && actor.scopes.includes(needed)) return null;
  const advice = is_specific ? `give it the scope ${needed} by name, or use a live key` : 'use a live key';
  return new AppError(
    'missing_scope',
    `A sandbox key can access mail, keys and webhooks of the sandbox only; ${advice}.`,
    {
      required_scope: needed,
    },
  );
}

/** Returns the only mode an actor may access; null if the actor may access both. */
export function accessibleMode(actor: Actor): KeyMode | null {
  return actor.kind === 'key' && actor.mode === 'sandbox' ? 'sandbox' : null;
}

/**
 * Filters message ids to those an actor may access. Messages past their retention period are excluded unless they are
 * still open.
 */
export async function accessibleMail(
  ctx: Pick<ActorContext, 'actor' | 'sql' | 'config' | 'clock'>,
  ids: readonly string[],
): Promise<ReadonlySet<string>> {
  const { actor, sql } = ctx;
  const past = ids.filter((id) => isId('message', id) && !isKept(ctx, 'messages', id));
  const expired = new Set(past);
  if (past.length > 0) for (const id of await openMail(sql, actor.workspace_id, past)) expired.delete(id);
  return ownModeFilter(
    ctx,
    ids.filter((id) => !expired.has(id)),
  );
}

/** Filters message ids by the actor's mode only. */
export async function ownModeFilter(
  { actor, sql }: Pick<ActorContext, 'actor' | 'sql'>,
  ids: readonly string[],
): Promise<ReadonlySet<string>> {
  const mode = accessibleMode(actor);
  return new Set(mode === null ? ids : await modeFilter(sql, actor.workspace_id, mode, ids));
}
