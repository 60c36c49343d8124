import { accessibleWorkspace, workspaceNotFound } from '../operation/access.ts';
import type { ActorContext } from '../operation/context.ts';
import { workspaceById } from './store.ts';

/**
 * Returns the named workspace, by default the actor's own; throws if the actor may not act there or it does not exist.
 */
export async function existingWorkspace(ctx: ActorContext, workspace_param: string | undefined): Promise<string> {
  const workspace_id = accessibleWorkspace(ctx, workspace_param);
  const own = workspace_id === ctx.actor.workspace_id;
  if (!own && !(await workspaceById(ctx.sql, workspace_id))) throw workspaceNotFound(workspace_id);
  return workspace_id;
}
