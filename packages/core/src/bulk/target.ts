import type { ActorContext } from '../context.ts';
import { AppError } from '../errors.ts';
import { INSTANCE, requireAdministrator, workspaceInReach, workspaceNotFound } from '../reach.ts';
import { scopeRefusal } from '../scope-refusal.ts';
import { workspaceById } from '../workspaces/index.ts';
import type { BulkAction } from './errand.ts';

/**
 * Where an action is to be done, or a list to look; throws where the actor may not. An operator without admin has to
 * name the workspace: what is done to many is never done to the one that a key happens to be in.
 */
export async function requireTarget(
  ctx: ActorContext,
  action: BulkAction | null,
  named: string | undefined,
): Promise<string> {
  const { actor, sql } = ctx;
  if (action === 'redrive') {
    requireAdministrator(actor, 'instance');
    return INSTANCE;
  }
  const refusal = named === undefined ? scopeRefusal(actor, 'admin') : null;
  if (refusal) throw refusal;
  const workspace_id = workspaceInReach(ctx, named);
  const own = workspace_id === actor.workspace_id;
  if (!own && !(await workspaceById(sql, workspace_id))) throw workspaceNotFound(workspace_id);
  return workspace_id;
}

export function bulkNotFound(id: string): AppError {
  return new AppError(
    'bulk_not_found',
    `No bulk operation ${id.slice(0, 64)} exists; the list of bulk operations shows those that do.`,
  );
}
