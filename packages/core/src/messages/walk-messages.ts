import type { Sql, Tx } from '@postrider/db';
import { type IdRange, idRange } from '../candidate-pages.ts';
import { type DeliveryState, deliveryStates } from '../delivery/index.ts';
import { driversOf } from './list-messages.ts';
import { type FilterInput, filterOf, type MessageFilter } from './messages-filter.ts';
import { countAmong, idsAmong, rarestDriver } from './messages-filter-store.ts';

const CANDIDATES = 1000;
const COUNTED_AT_ONCE = 10_000;

/** What a walk of the log passes: what the log would list, of some statuses, up to a time. */
export interface MessageWalk {
  readonly workspace_id: string;
  readonly filters: FilterInput;
  /** Besides what the filters ask for; null asks nothing. */
  readonly statuses: readonly DeliveryState[] | null;
  readonly deferred?: boolean;
  readonly tried?: boolean | null;
  readonly before: Date;
}

export interface WalkStep {
  readonly ids: readonly string[];
  /** Where the walk goes on; null at its end. */
  readonly position: string | null;
}

/** The next messages of a walk, newest first, by the same filter and the same indexes as the log. */
export async function nextMessages(
  sql: Sql | Tx,
  walk: MessageWalk,
  position: string | null,
  wanted: number,
): Promise<WalkStep> {
  const filter = walkFilter(walk);
  if (filter === null) return { ids: [], position: null };
  const range = walkRange(walk, position);
  const driver = await rarestDriver(sql, walk.workspace_id, await driversOf(sql, walk.workspace_id, filter), range);
  const count = Math.max(CANDIDATES, wanted);
  const found = await idsAmong(sql, walk.workspace_id, driver, filter, range, count, wanted);
  if (found.ids.length >= wanted) return { ids: found.ids, position: found.ids.at(-1) ?? null };
  return { ids: found.ids, position: found.examined < count ? null : found.edge };
}

/** How many messages a walk would meet; not exact where it looked at as many as it may. */
export async function countMessages(
  sql: Sql,
  walk: MessageWalk,
  most: number,
): Promise<{ readonly count: number; readonly exact: boolean }> {
  const filter = walkFilter(walk);
  if (filter === null) return { count: 0, exact: true };
  const range = walkRange(walk, null);
  const driver = await rarestDriver(sql, walk.workspace_id, await driversOf(sql, walk.workspace_id, filter), range);
  let { before } = range;
  let count = 0;
  for (let examined = 0; examined < most; examined += COUNTED_AT_ONCE) {
    const step = Math.min(COUNTED_AT_ONCE, most - examined);
    const found = await countAmong(sql, walk.workspace_id, driver, filter, { from: range.from, before }, step);
    count += found.passed;
    if (found.examined < step) return { count, exact: true };
    before = found.edge ?? before;
  }
  return { count, exact: false };
}

/** The statuses that are not among these. */
export function otherStatuses(statuses: readonly DeliveryState[]): DeliveryState[] {
  return deliveryStates.filter((state) => !statuses.includes(state));
}

function walkRange({ filters, before }: MessageWalk, position: string | null): IdRange {
  const until = filters.until && filters.until < before ? filters.until : before;
  return idRange('message', { since: filters.since, until }, position);
}

/** Null where nothing can pass. */
function walkFilter({ filters, statuses, deferred = false, tried = null }: MessageWalk): MessageFilter | null {
  const asked = filterOf(filters);
  const both = statuses?.filter((state) => asked.statuses?.includes(state) ?? true) ?? asked.statuses;
  return both?.length === 0 ? null : { ...asked, statuses: both, deferred, tried };
}
