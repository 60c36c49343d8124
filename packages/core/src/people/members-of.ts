import type { ActorContext } from '../context.ts';
import { requireAdministrator, workspaceInReach, workspaceNotFound } from '../reach.ts';
import { workspaceExists } from './store.ts';

/**
 * The workspace whose members are meant. A key needs operator even for its own, because a person whom it made would
 * outlive it.
 */
export async function membersOf(ctx: ActorContext, named: string | undefined): Promise<string> {
  const { actor, sql } = ctx;
  if (actor.kind === 'key') requireAdministrator(actor, 'instance');
  const workspace_id = workspaceInReach(ctx, named);
  const own = workspace_id === actor.workspace_id;
  if (!own && !(await workspaceExists(sql, workspace_id))) throw workspaceNotFound(workspace_id);
  return workspace_id;
}
