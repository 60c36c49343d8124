import { accessibleWorkspace, INSTANCE, requireAdministrator, workspaceNotFound } from '../operation/access.ts';
import type { ActorContext } from '../operation/context.ts';
import { AppError } from '../operation/errors.ts';
import { scopeRefusal } from '../operation/scope-refusal.ts';
import { workspaceById } from '../workspaces/index.ts';
import type { BulkAction } from './command.ts';

/**
 * The workspace of an action or a list; throws if the actor may not use it. An operator without admin must name it: a
 * bulk action never defaults to the workspace of the key.
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
  const workspace_id = accessibleWorkspace(ctx, named);
  const own = workspace_id === actor.workspace_id;
  if (!own && !(await workspaceById(sql, workspace_id))) throw workspaceNotFound(workspace_id);
  return workspace_id;
}

export function bulkNotFound(id: string): AppError {
  return new AppError(
    'bulk_not_found',
    `No bulk operation ${id.slice(0, 64)} exists; list the bulk operations to find it.`,
  );
}
