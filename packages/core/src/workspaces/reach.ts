import type { ActorContext } from '../context.ts';
import { scopeRefusal } from '../operation.ts';
import { workspaceNotFound } from './workspace-entry.ts';

/** Which workspace is meant: an admin reaches the own one, an operator any. To all others a foreign one is absent. */
export function workspaceInReach({ actor }: ActorContext, named: string | undefined): string {
  const workspace_id = named ?? actor.workspace_id;
  if (scopeRefusal(actor, 'operator') === null) return workspace_id;
  const refusal = scopeRefusal(actor, 'admin');
  if (refusal) throw refusal;
  if (workspace_id !== actor.workspace_id) throw workspaceNotFound(workspace_id);
  return workspace_id;
}
