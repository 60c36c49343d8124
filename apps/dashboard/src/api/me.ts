import { useSuspenseQuery } from '@tanstack/react-query';
import { words } from './strings.ts';
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

/** Why the user may not; null if they may. */
export function refusalOf(me: Me, needed: Scope): string | null {
  if (may(me, needed)) return null;
  const here = me.workspaces.find(({ id }) => id === me.workspace_id);
  const role = here?.role ?? 'viewer';
  const where = needed === 'operator' ? words.instance : words.workspace(here?.name);
  return words.refusal(words.rolesWith[needed], where, role);
}
