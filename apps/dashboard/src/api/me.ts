import { useSuspenseQuery } from '@tanstack/react-query';
import { words } from './strings.ts';
import { type Outputs, queries, trpc } from './trpc.ts';

export type Me = Outputs['people']['me'];
export type Scope = Me['scopes'][number];

/** Returns the signed-in user, which the shell loads before rendering any page. */
export function useMe(): Me {
  return useSuspenseQuery(meOptions).data;
}

export const meOptions = trpc.people.me.queryOptions({}, { staleTime: 60_000 });

/** Returns the signed-in user once loaded, for what also renders without one. */
export function knownMe(): Me | undefined {
  return queries.getQueryData(meOptions.queryKey);
}

/** Returns the current workspace once the signed-in user is loaded. */
export function knownWorkspace(): Me['workspaces'][number] | undefined {
  const me = knownMe();
  return me?.workspaces.find(({ id }) => id === me.workspace_id);
}

/** Applies the server's rule: admin covers the whole workspace, operator only the instance. */
export function may(me: Me, needed: Scope): boolean {
  return me.scopes.includes(needed) || (needed !== 'operator' && me.scopes.includes('admin'));
}

/** Returns why the user lacks permission, or null if they have it. */
export function refusalOf(me: Me, needed: Scope): string | null {
  if (may(me, needed)) return null;
  const workspace = me.workspaces.find(({ id }) => id === me.workspace_id);
  const role = workspace?.role ?? 'viewer';
  const location = needed === 'operator' ? words.instance : words.workspace(workspace?.name);
  return words.refusal(words.rolesWith[needed], location, role);
}
