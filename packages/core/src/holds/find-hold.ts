import type { ActorContext } from '../context.ts';
import { holdNotFound } from './hold-entry.ts';
import { type HoldRow, holdById } from './store.ts';
import { inReach, requireHolder } from './who-may.ts';

/** A hold that the caller may see. */
export async function findHold(ctx: ActorContext, id: string): Promise<HoldRow> {
  requireHolder(ctx, 'workspace');
  const row = await holdById(ctx.sql, id);
  if (!row || !inReach(ctx, row)) throw holdNotFound(id);
  return row;
}
