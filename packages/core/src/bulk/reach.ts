import { INSTANCE } from '../audit/index.ts';
import type { Actor, ActorContext } from '../context.ts';
import { AppError } from '../errors.ts';
import { scopeRefusal } from '../operation.ts';
import { workspaceById, workspaceNotFound } from '../workspaces/index.ts';

import type { BulkAction } from './errand.ts';

/** Whose bulk operations an actor may see and end: those of its workspace as its admin, all of them as an operator. */
export function mayReach(actor: Actor, workspace_id: string): boolean {
  if (scopeRefusal(actor, 'operator') === null) return true;
  return workspace_id === actor.workspace_id && scopeRefusal(actor, 'admin') === null;
}

/** Those that a list shows where no workspace is named. */
export function ownReach(actor: Actor): string[] {
  const refusal = scopeRefusal(actor, 'admin');
  const is_operator = scopeRefusal(actor, 'operator') === null;
  if (refusal && !is_operator) throw refusal;
  return [...(refusal ? [] : [actor.workspace_id]), ...(is_operator ? [INSTANCE] : [])];
}

/** Where an action would be done; throws where the actor may not. */
export async function requireReach(
  ctx: ActorContext,
  action: BulkAction | null,
  workspace_id: string | undefined,
): Promise<string> {
  const of_instance = action === 'redrive';
  const elsewhere = workspace_id !== undefined && workspace_id !== ctx.actor.workspace_id;
  const target = of_instance ? INSTANCE : (workspace_id ?? ctx.actor.workspace_id);
  if (mayReach(ctx.actor, target) && (workspace_id !== undefined || of_instance || isAdmin(ctx.actor))) {
    if (elsewhere && !of_instance && !(await workspaceById(ctx.sql, target))) throw workspaceNotFound(target);
    return target;
  }
  throw scopeRefusal(ctx.actor, of_instance || elsewhere ? 'operator' : 'admin') ?? bulkNotFound('');
}

export function bulkNotFound(id: string): AppError {
  return new AppError('bulk_not_found', `No bulk operation ${id.slice(0, 64)} exists; bulk.list names them.`);
}

function isAdmin(actor: Actor): boolean {
  return scopeRefusal(actor, 'admin') === null;
}
