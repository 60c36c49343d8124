import { INSTANCE, mayAccess, requireAdministrator } from '../operation/access.ts';
import type { Actor, ActorContext } from '../operation/context.ts';
import { holdNotFound } from './hold-entry.ts';
import { type HoldRow, holdById } from './store.ts';

/**
 * Returns whether an admin may see a hold: a hold of the admin's workspace, or one of the instance, because instance
 * holds also stop the workspace's email.
 */
export function holdsHere(actor: Actor, { workspace_id }: Pick<HoldRow, 'workspace_id'>): boolean {
  return workspace_id === INSTANCE || mayAccess(actor, workspace_id);
}

/** Returns a hold that the caller may see. */
export async function findHold(ctx: ActorContext, id: string): Promise<HoldRow> {
  requireAdministrator(ctx.actor);
  const row = await holdById(ctx.sql, id);
  if (!row || !holdsHere(ctx.actor, row)) throw holdNotFound(id);
  return row;
}
