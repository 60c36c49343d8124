import type { Services, UserActor } from '../../operation/context.ts';
import { scopesOf } from '../roles.ts';
import { liveSession, noteSessionUse, type SessionRow } from './session-store.ts';
import { hashToken } from './token.ts';

/** Returns the user of a session token, with the current scopes of their role; null if the session has ended. */
export async function findSession(services: Pick<Services, 'sql'>, token: string): Promise<UserActor | null> {
  const row = await liveSession(services.sql, hashToken(token));
  if (row === null) return null;
  if (row.note_due) await noteSessionUse(services.sql, row.id);
  return userActor(row);
}

export function userActor(row: SessionRow): UserActor {
  const { id: session_id, user_id, email, workspace_id } = row;
  return { kind: 'user', workspace_id, user_id, session_id, email, scopes: scopesOf(row) };
}
