import { z } from 'zod';
import { hasScope, type Scope } from './api-keys/scopes.ts';
import type { ActorContext } from './context.ts';
import { scopeRefusal } from './operation.ts';

/** Stands for the whole instance where a row otherwise names its workspace. */
export const WHOLE_INSTANCE = '';

export const reaches = ['workspace', 'instance'] as const;
export type Reach = (typeof reaches)[number];

export const reachField = z.enum(reaches).optional().meta({
  description:
    'workspace needs admin and is what an admin gets; instance needs operator and is what an operator without admin gets.',
});

const scopeOf: Record<Reach, Scope> = { workspace: 'admin', instance: 'operator' };

/** Of whom an actor is to see the numbers: the id of its workspace, or WHOLE_INSTANCE. */
export function workspaceInReach({ actor }: Pick<ActorContext, 'actor'>, asked: Reach | undefined): string {
  const reach = asked ?? usualReach(actor);
  const refusal = scopeRefusal(actor, scopeOf[reach]);
  if (refusal) throw refusal;
  return reach === 'instance' ? WHOLE_INSTANCE : actor.workspace_id;
}

function usualReach(actor: ActorContext['actor']): Reach {
  if (actor.kind === 'system') return 'instance';
  const operates = hasScope(actor.scopes, 'operator') && !hasScope(actor.scopes, 'admin');
  return operates ? 'instance' : 'workspace';
}
