import { useSuspenseQuery } from '@tanstack/react-query';
import { type Outputs, trpc } from './trpc.ts';

export type Me = Outputs['people']['me'];
export type Scope = Me['scopes'][number];

/** The signed-in user; the shell loads it before any page renders. */
export function useMe(): Me {
  return useSuspenseQuery(meOptions).data;
}

export const meOptions = trpc.people.me.queryOptions({}, { staleTime: 60_000 });

/** The server's rule: admin covers the whole workspace, operator only the instance. */
export function may(me: Me, needed: Scope): boolean {
  return me.scopes.includes(needed) || (needed !== 'operator' && me.scopes.includes('admin'));
}

const rolesWith: Readonly<Record<Scope, string>> = {
  'email:logs:read': 'a viewer',
  'domains:read': 'a viewer',
  'email:send': 'a member',
  'domains:write': 'a member',
  'webhooks:manage': 'a member',
  admin: 'an admin',
  operator: 'an operator',
};

/** Why the user may not; null if they may. */
export function refusalOf(me: Me, needed: Scope): string | null {
  if (may(me, needed)) return null;
  const here = me.workspaces.find(({ id }) => id === me.workspace_id);
  const role = here?.role ?? 'viewer';
  const where = needed === 'operator' ? 'of this instance' : `of ${here?.name ?? 'this workspace'}`;
  return `Only ${rolesWith[needed]} ${where} may do this; you are ${role === 'admin' ? 'an' : 'a'} ${role}.`;
}
