import { nowMs } from '../../../api/clock.ts';
import type { Inputs } from '../../../api/trpc.ts';
import type { Reach } from '../../operations/reach/use-reach.ts';
import { isAction } from './action-words.ts';
import { startOf } from './ranges.ts';
import type { AuditSearch } from './search.ts';

export type AuditFilter = Omit<Exclude<Inputs['audit']['list'], void>, 'limit' | 'cursor'>;

/** Returns the filter that a URL selects. A moving range ends up with a fixed start, so that the list keeps its rows. */
export function filterOf(chain: Reach, search: AuditSearch): AuditFilter {
  const { kind = 'changes', actor, action, target, range, since, until } = search;
  const moving = range !== undefined && range !== 'dates';
  return {
    chain,
    // An action is either a change or a read, so it needs no kind.
    ...(action !== undefined && isAction(action) ? { action } : kind !== 'all' && { kind }),
    ...(actor !== undefined && { actor_id: actor }),
    ...(target !== undefined && { target_id: target }),
    ...(moving ? { since: startOf(range, nowMs()) } : { ...(since && { since }), ...(until && { until }) }),
  };
}

/** Whether a URL selects less than all entries of a kind. */
export function isFiltered({ kind: _, open: __, ...filters }: AuditSearch): boolean {
  return Object.keys(filters).length > 0;
}
