import type { Tx } from '@postrider/db';
import { createContext } from '../create-context.ts';
import { INSTANCE } from '../operation/access.ts';
import type { ActorContext, Services, UserActor } from '../operation/context.ts';
import { type UserRow, workspacesOf } from './store.ts';

/** Returns the audit chain for what happens to an account of which no session is at hand. */
export async function accountChain(tx: Tx, user: UserRow): Promise<string> {
  const [home] = await workspacesOf(tx, user, 1);
  return user.operator || !home ? INSTANCE : home.id;
}

/** Returns a context for the audit entry of a user who has proven who they are, but has no session yet. */
export function visitorContext(
  services: Services,
  { id: user_id, email }: Pick<UserRow, 'id' | 'email'>,
  workspace_id: string,
  { request_id, address }: { readonly request_id: string; readonly address: string },
): ActorContext {
  const actor: UserActor = {
    kind: 'user',
    ...{ workspace_id, user_id, email },
    ...{ session_id: '', scopes: [], factor_due: false },
  };
  return { ...createContext(services, actor, { request_id, address, via: 'dashboard' }), actor };
}
