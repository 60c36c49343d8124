import type { Services, UserActor } from '../../operation/context.ts';
import { userActor } from './find-session.ts';
import { liveSessionById } from './session-store.ts';

/** Whether the session of a long-lived request is still valid, in the same workspace and with the same scopes. */
export async function isStillSame(services: Pick<Services, 'sql'>, actor: UserActor): Promise<boolean> {
  const row = await liveSessionById(services.sql, actor.session_id);
  if (row === null || row.workspace_id !== actor.workspace_id) return false;
  return userActor(row).scopes.join() === actor.scopes.join();
}
