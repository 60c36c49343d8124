import { accessibleWorkspace, workspaceNotFound } from '../operation/access.ts';
import type { ActorContext } from '../operation/context.ts';
import { workspaceById } from './store.ts';

/** The named workspace, by default the own one; throws where the actor may not act or none exists. */
export async function existingWorkspace(ctx: ActorContext, workspace_param: string | undefined): Promise<string> {
  const workspace_id = accessibleWorkspace(ctx, workspace_param);
  const own = workspace_id === ctx.actor.workspace_id;
  if (!own && !(await workspaceById(ctx.sql, workspace_id))) throw workspaceNotFound(workspace_id);
  return workspace_id;
}
