import type { ActorContext } from '../context.ts';
import { mayReach, requireAdministrator } from '../reach.ts';
import type { BulkRow } from './store.ts';
import { bulkNotFound } from './target.ts';

/** What was found under an id, where the actor may see it; what it may not is as good as absent. */
export function requireFound<R extends Pick<BulkRow, 'workspace_id'>>(ctx: ActorContext, id: string, row: R | null): R {
  requireAdministrator(ctx.actor);
  if (!row || !mayReach(ctx.actor, row.workspace_id)) throw bulkNotFound(id);
  return row;
}
