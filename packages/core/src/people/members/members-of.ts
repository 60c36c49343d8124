import { accessibleWorkspace, requireAdministrator, workspaceNotFound } from '../../operation/access.ts';
import type { ActorContext } from '../../operation/context.ts';
import { workspaceExists } from '../store.ts';

/**
 * Returns the workspace to act on. A key needs operator even for its own workspace, because a user created with a key
 * would outlive the key.
 */
export async function membersOf(ctx: ActorContext, workspace_param: string | undefined): Promise<string> {
  const { actor, sql } = ctx;
  if (actor.kind === 'key') requireAdministrator(actor, 'instance');
  const workspace_id = accessibleWorkspace(ctx, workspace_param);
  const own = workspace_id === actor.workspace_id;
  if (!own && !(await workspaceExists(sql, workspace_id))) throw workspaceNotFound(workspace_id);
  return workspace_id;
}
