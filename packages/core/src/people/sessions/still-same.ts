import type { Services, UserActor } from '../../operation/context.ts';
import { findBearer, type SessionBearer } from './bearer.ts';
import { userActor } from './find-session.ts';
import { liveSessionById } from './session-store.ts';

/**
 * Returns whether the session of a long-lived request is still valid, in the same workspace and with the same scopes.
 */
export async function isStillSame(services: Pick<Services, 'sql'>, actor: UserActor): Promise<boolean> {
  const row = await liveSessionById(services.sql, actor.session_id, actor.workspace_id);
  return haveSamePermissions(row && userActor(row), actor);
}

/** Returns the same as isStillSame for a request with a bearer token, which may expire before its session. */
export async function isBearerStillSame(
  services: Pick<Services, 'sql'>,
  bearer: SessionBearer,
  actor: UserActor,
): Promise<boolean> {
  return haveSamePermissions(await findBearer(services, bearer), actor);
}

function haveSamePermissions(current: UserActor | null, before: UserActor): boolean {
  return (
    current?.workspace_id === before.workspace_id &&
    current.scopes.join() === before.scopes.join() &&
    current.factor_due === before.factor_due
  );
}
