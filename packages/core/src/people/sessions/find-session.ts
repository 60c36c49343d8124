import { isId } from '../../fields/ids.ts';
import { workspaceNotFound } from '../../operation/access.ts';
import type { Services, UserActor } from '../../operation/context.ts';
import { scopesOf } from '../roles.ts';
import { liveSession, noteSessionUse, type SessionRow } from './session-store.ts';
import { hashToken } from './token.ts';

/**
 * Returns the user of a session token, with the current scopes of their role in the workspace; null if the session has
 * ended. Without a workspace, the session's default one is used. A workspace without access reads like an unknown one.
 */
export async function findSession(
  { sql }: Pick<Services, 'sql'>,
  token: string,
  workspace_id: string | null = null,
): Promise<UserActor | null> {
  const known_id = workspace_id === null || isId('workspace', workspace_id) ? workspace_id : null;
  const row = await liveSession(sql, hashToken(token), known_id);
  if (row === null) return null;
  if (row.note_due) await noteSessionUse(sql, row.id);
  const actor = known_id === workspace_id ? userActor(row) : null;
  if (actor === null && workspace_id !== null) throw workspaceNotFound(workspace_id);
  return actor;
}

/** Returns the user of a session, or null without access to the workspace. */
export function userActor(row: SessionRow): UserActor | null {
  const { id: session_id, user_id, email, workspace_id, factor_due } = row;
  const scopes = scopesOf(row);
  if (workspace_id === null || scopes.length === 0) return null;
  return { kind: 'user', workspace_id, user_id, session_id, email, scopes, factor_due };
}
