import { INSTANCE, requireAdministrator } from '../operation/access.ts';
import type { ActorContext } from '../operation/context.ts';
import { AppError } from '../operation/errors.ts';
import { scopeRefusal } from '../operation/scope-refusal.ts';
import { existingWorkspace } from '../workspaces/index.ts';
import type { BulkAction } from './command.ts';

/**
 * Returns the workspace of an action or a list; throws if the actor may not use it. An operator without admin must
 * specify the workspace: a bulk action never defaults to the workspace of the key.
 */
export async function requireTarget(
  ctx: ActorContext,
  action: BulkAction | null,
  name: string | undefined,
): Promise<string> {
  const { actor } = ctx;
  if (action === 'redrive') {
    requireAdministrator(actor, 'instance');
    return INSTANCE;
  }
  const refusal = name === undefined ? scopeRefusal(actor, 'admin') : null;
  if (refusal) throw refusal;
  return existingWorkspace(ctx, name);
}

export function bulkNotFound(id: string): AppError {
  return new AppError('bulk_not_found', `No bulk operation with ID ${id.slice(0, 64)}.`);
}
