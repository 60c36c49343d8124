import { z } from 'zod';
import { hasScope, type Scope } from './api-keys/scopes.ts';
import type { Actor, ActorContext } from './context.ts';
import { AppError } from './errors.ts';
import { scopeRefusal } from './operation.ts';

// Who may reach what: an operator every workspace and the instance, an admin the own workspace, anybody else neither.
// A workspace out of reach is answered like one that does not exist.

/** Stands for the whole instance where a row otherwise names its workspace. */
export const INSTANCE = '';

export const reaches = ['workspace', 'instance'] as const;
export type Reach = (typeof reaches)[number];

export const reachField = z.enum(reaches).optional().meta({
  description:
    'workspace needs admin and is what an admin gets; instance needs operator and is what an operator without admin gets.',
});

const scopeOf: Record<Reach, Scope> = { workspace: 'admin', instance: 'operator' };

export function isOperator(actor: Actor): boolean {
  return scopeRefusal(actor, 'operator') === null;
}

export function mayReach(actor: Actor, workspace_id: string): boolean {
  return isOperator(actor) || (workspace_id === actor.workspace_id && scopeRefusal(actor, 'admin') === null);
}

/** Refuses whoever administers neither the instance nor, where that is enough, a workspace. */
export function requireAdministrator(actor: Actor, of: Reach = 'workspace'): void {
  const refusal = isOperator(actor) ? null : scopeRefusal(actor, scopeOf[of]);
  if (refusal) throw refusal;
}

/** Which workspace is meant: the own one where none is named. It may not exist, where an operator names it. */
export function workspaceInReach({ actor }: Pick<ActorContext, 'actor'>, named: string | undefined): string {
  const workspace_id = named ?? actor.workspace_id;
  requireAdministrator(actor);
  if (!mayReach(actor, workspace_id)) throw workspaceNotFound(workspace_id);
  return workspace_id;
}

export function workspaceNotFound(id: string): AppError {
  return new AppError('workspace_not_found', `No workspace ${id.slice(0, 64)} exists where you may act.`);
}

/** What belongs to somebody by their scopes, where a list tells of the own workspace and of the instance at once. */
export function ownReach(actor: Actor): string[] {
  requireAdministrator(actor);
  return [...(scopeRefusal(actor, 'admin') ? [] : [actor.workspace_id]), ...(isOperator(actor) ? [INSTANCE] : [])];
}

/**
 * Whose numbers or log are meant, the own workspace's or the instance's: here each asks for its own scope, and an
 * operator without admin sees the instance and not into the workspace.
 */
export function sideInReach({ actor }: Pick<ActorContext, 'actor'>, asked: Reach | undefined): string {
  const reach = asked ?? usualReach(actor);
  const refusal = scopeRefusal(actor, scopeOf[reach]);
  if (refusal) throw refusal;
  return reach === 'instance' ? INSTANCE : actor.workspace_id;
}

function usualReach(actor: Actor): Reach {
  if (actor.kind === 'system') return 'instance';
  const operates = hasScope(actor.scopes, 'operator') && !hasScope(actor.scopes, 'admin');
  return operates ? 'instance' : 'workspace';
}
