import { useQuery } from '@tanstack/react-query';
import { type Outputs, trpc } from '../../../api/trpc.ts';
import type { Reach } from '../../operations/reach/use-reach.ts';
import { words } from './strings.ts';

type Entry = Outputs['audit']['list']['data'][number];

interface Option {
  readonly id: string;
  readonly name: string;
}

interface Group {
  readonly label: string;
  readonly options: readonly Option[];
}

export const SYSTEM: Option = { id: 'system', name: words.person.system };
const MAX_OPTIONS = 100;

/**
 * Returns the people and keys to choose from: those that exist, those among the given entries, and the chosen one. The
 * instance has no list of its keys, because they belong to workspaces.
 */
export function useActors(chain: Reach, rows: readonly Entry[], actor: string | undefined): readonly Group[] {
  const in_workspace = { enabled: chain === 'workspace' };
  const page = { limit: MAX_OPTIONS };
  const members = useQuery(trpc.members.list.queryOptions(page, in_workspace));
  const keys = useQuery(trpc.apiKeys.list.queryOptions(page, in_workspace));
  const operators = useQuery(trpc.operators.list.queryOptions(page, { enabled: chain === 'instance' }));
  const people = ((chain === 'workspace' ? members.data : operators.data)?.data ?? []).map(byEmail);
  const key_options = (keys.data?.data ?? []).map(({ id, name, last4 }) => ({
    id,
    name: words.person.key(name, last4),
  }));
  const known = new Set([SYSTEM, ...people, ...key_options].map(({ id }) => id));
  const others = new Map(
    [...(actor === undefined ? [] : [{ id: actor, name: actor }]), ...rows.map((row) => row.actor)]
      .filter(({ id }) => !known.has(id))
      .map(({ id, name }) => [id, { id, name }]),
  );
  return [
    { label: words.person[chain === 'workspace' ? 'members' : 'operators'], options: people },
    { label: words.person.keys, options: key_options },
    { label: words.person.others, options: [...others.values()] },
  ].filter(({ options }) => options.length > 0);
}

const byEmail = ({ id, email }: { readonly id: string; readonly email: string }): Option => ({ id, name: email });
