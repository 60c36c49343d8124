import type { ActorContext } from '../context.ts';
import { holdNotFound } from './hold-entry.ts';
import { type HoldRow, holdById } from './store.ts';
import { isOperator, requireHolder } from './who-may.ts';

/** A hold of the caller's workspace, or of the instance, because that keeps the workspace's mail back too. */
export async function findHold(ctx: ActorContext, id: string): Promise<HoldRow> {
  requireHolder(ctx, 'workspace');
  const row = await holdById(ctx.sql, id);
  const in_reach = row && (row.workspace_id === '' || row.workspace_id === ctx.actor.workspace_id || isOperator(ctx));
  if (!in_reach) throw holdNotFound(id);
  return row;
}
