import type { ActorContext } from '../context.ts';
import { AppError } from '../errors.ts';
import { scopeRefusal } from '../operation.ts';
import { workspaceExists } from './store.ts';

/**
 * The workspace whose members are meant: the caller's own, which its admins manage, or any that an operator names.
 * A key needs operator for either, because a person whom it made would outlive it.
 */
export async function workspaceInReach(ctx: ActorContext, named: string | undefined): Promise<string> {
  const { actor, sql } = ctx;
  const everywhere = actor.kind === 'system' || actor.scopes.includes('operator');
  const refusal = everywhere ? null : scopeRefusal(actor, actor.kind === 'key' ? 'operator' : 'admin');
  if (refusal) throw refusal;
  if (named === undefined || named === actor.workspace_id) return actor.workspace_id;
  if (!everywhere || !(await workspaceExists(sql, named))) throw workspaceNotFound(named);
  return named;
}

export function workspaceNotFound(id: string): AppError {
  return new AppError('workspace_not_found', `No workspace ${id.slice(0, 64)} exists where you may act.`);
}
