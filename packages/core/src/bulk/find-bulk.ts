import { mayAccess, requireAdministrator } from '../operation/access.ts';
import type { ActorContext } from '../operation/context.ts';
import type { BulkRow } from './store.ts';
import { bulkNotFound } from './target.ts';

/** Returns the operation if the actor may see it; otherwise throws the same error as for a missing one. */
export function requireFound<R extends Pick<BulkRow, 'workspace_id'>>(ctx: ActorContext, id: string, row: R | null): R {
  requireAdministrator(ctx.actor);
  if (!row || !mayAccess(ctx.actor, row.workspace_id)) throw bulkNotFound(id);
  return row;
}
