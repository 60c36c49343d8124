import { z } from 'zod';
import { hasScope, type Scope } from './api-keys/scopes.ts';
import type { KeyMode } from './api-keys/secret.ts';
import type { Actor, ActorContext } from './context.ts';
import { AppError } from './errors.ts';
import { mailOfMode } from './reach-store.ts';
import { scopeRefusal } from './scope-refusal.ts';

// Who may reach what: an operator every workspace and the instance, an admin the own workspace, anybody else neither.
// A workspace out of reach is answered like one that does not exist.
// A key of the sandbox mode has mail, keys and webhooks of that mode in its reach, whatever its scopes. What has no mode,
// such as domains, is about live mail too: it takes a scope that names it, and not admin alone. Holds, people and
// whatever else only admin opens stay with live keys.

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

/** What a sandbox key may do whatever its scopes are named: with mail, keys and webhooks of its mode, and to look at what it needs to send. */
const inSandbox: ReadonlySet<string> = new Set([
  'api_keys.create',
  'api_keys.current',
  'api_keys.list',
  'api_keys.read_many',
  'api_keys.revoke',
  'api_keys.rotate',
  'domains.examine',
  'domains.get',
  'domains.list',
  'domains.read_many',
  'domains.read_named',
  'email.attempts',
  'email.attempts_by_id',
  'email.cancel',
  'email.content',
  'email.get',
  'email.last_attempts',
  'email.last_events',
  'email.logs',
  'email.logs_alone',
  'email.logs_backward',
  'email.of_recipients',
  'email.places',
  'email.preview',
  'email.read_many',
  'email.reschedule',
  'email.resend',
  'email.retry_now',
  'email.send_now',
  'email.timelines',
  'events.follow',
  'events.list',
  'events.read_many',
  'plans.list',
  'usage.get',
  'usage.month',
  'usage.read_many',
  'webhooks.all_deliveries',
  'webhooks.create',
  'webhooks.delete',
  'webhooks.deliveries',
  'webhooks.deliveries_of_events',
  'webhooks.delivery_bodies',
  'webhooks.get',
  'webhooks.list',
  'webhooks.read_deliveries',
  'webhooks.read_many',
  'webhooks.recover',
  'webhooks.replay',
  'webhooks.rotate_secret',
  'webhooks.test',
  'webhooks.update',
  'workspaces.get',
  'workspaces.read_many',
]);

/** The 403 for a sandbox key that asks for what is about live mail too, or null. */
export function sandboxRefusal(
  actor: Actor,
  { name, scope }: { readonly name: string; readonly scope: Scope | null },
): AppError | null {
  if (actor.kind !== 'key' || modeInReach(actor) === null || inSandbox.has(name)) return null;
  const needed = scope ?? 'admin';
  const named = needed !== 'admin' && needed !== 'operator';
  if (named && actor.scopes.includes(needed)) return null;
  const way = named ? `give it the scope ${needed} by name, or use a live key` : 'use a live key';
  return new AppError('missing_scope', `A sandbox key reaches mail, keys and webhooks of the sandbox only; ${way}.`, {
    required_scope: needed,
  });
}

/** The only mode whose mail, keys and webhooks an actor may know of; null for both. */
export function modeInReach(actor: Actor): KeyMode | null {
  return actor.kind === 'key' && actor.mode === 'sandbox' ? 'sandbox' : null;
}

/** Of some messages, those that an actor may know of. */
export async function mailInReach(
  { actor, sql }: Pick<ActorContext, 'actor' | 'sql'>,
  ids: readonly string[],
): Promise<ReadonlySet<string>> {
  const mode = modeInReach(actor);
  return new Set(mode === null ? ids : await mailOfMode(sql, actor.workspace_id, mode, ids));
}
