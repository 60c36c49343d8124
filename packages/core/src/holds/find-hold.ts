import type { Actor, ActorContext } from '../context.ts';
import { INSTANCE, mayReach, requireAdministrator } from '../reach.ts';
import { holdNotFound } from './hold-entry.ts';
import { type HoldRow, holdById } from './store.ts';

/** An admin sees the holds of the workspace, and those of the instance, because they keep its mail back too. */
export function holdsHere(actor: Actor, { workspace_id }: Pick<HoldRow, 'workspace_id'>): boolean {
  return workspace_id === INSTANCE || mayReach(actor, workspace_id);
}

/** A hold that the caller may see. */
export async function findHold(ctx: ActorContext, id: string): Promise<HoldRow> {
  requireAdministrator(ctx.actor);
  const row = await holdById(ctx.sql, id);
  if (!row || !holdsHere(ctx.actor, row)) throw holdNotFound(id);
  return row;
}
