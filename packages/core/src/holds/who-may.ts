import { hasScope } from '../api-keys/index.ts';
import type { ActorContext } from '../context.ts';
import { scopeRefusal } from '../operation.ts';

/** Operators hold anything in any workspace; an admin what is the workspace's own. */
export function isOperator({ actor }: ActorContext): boolean {
  return actor.kind === 'system' || hasScope(actor.scopes, 'operator');
}

export function requireHolder(ctx: ActorContext, owner: 'instance' | 'workspace'): void {
  if (isOperator(ctx)) return;
  const refusal = scopeRefusal(ctx.actor, owner === 'instance' ? 'operator' : 'admin');
  if (refusal) throw refusal;
}

/** An admin sees the holds of the workspace, and those of the instance, because they keep its mail back too. */
export function inReach(ctx: ActorContext, { workspace_id }: { readonly workspace_id: string }): boolean {
  return workspace_id === '' || workspace_id === ctx.actor.workspace_id || isOperator(ctx);
}
