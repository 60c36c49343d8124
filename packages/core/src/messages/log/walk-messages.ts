import type { Sql, Tx } from '@postrider/db';
import { type DeliveryState, deliveryStates } from '../../delivery/index.ts';
import { type IdRange, idRange } from '../../paging/candidate-pages.ts';
import { driversOf } from './list-messages.ts';
import { type FilterInput, filterOf, type MessageFilter } from './messages-filter.ts';
import { countAmong, idsAmong, rarestDriver } from './messages-filter-store.ts';
import { type KeptPart, keptParts } from './visible-parts.ts';

const CANDIDATES = 1000;
const COUNTED_AT_ONCE = 10_000;

/** The filter of a walk: the log's filters, statuses and an end time. */
export interface MessageWalk {
  readonly workspace_id: string;
  readonly filters: FilterInput;
  /** Applied in addition to the filters; null: no filter. */
  readonly statuses: readonly DeliveryState[] | null;
  readonly deferred?: boolean;
  readonly tried?: boolean | null;
  readonly before: Date;
  /** Older messages count as deleted, unless they are open. */
  readonly oldest_kept: string;
}

export interface WalkStep {
  readonly ids: readonly string[];
  /** Where the walk continues; null at the end. */
  readonly position: string | null;
}

/** Returns the next messages of a walk, newest first, using the log's filters and indexes. */
export async function nextMessages(
  sql: Sql | Tx,
  walk: MessageWalk,
  position: string | null,
  limit: number,
): Promise<WalkStep> {
  const count = Math.max(CANDIDATES, limit);
  const ids: string[] = [];
  for (const { range, filter } of partsOf(walk, position)) {
    const room = limit - ids.length;
    const driver = await rarestDriver(sql, walk.workspace_id, await driversOf(sql, walk.workspace_id, filter), range);
    const step = await idsAmong(sql, walk.workspace_id, driver, filter, range, count, room);
    ids.push(...step.ids);
    if (step.ids.length >= room) return { ids, position: ids.at(-1) ?? null };
    if (step.examined >= count) return { ids, position: step.edge };
  }
  return { ids, position: null };
}

/**
 * Counts the messages a walk would match; the count is inexact if the walk reaches its maximum of examined messages.
 */
export async function countMessages(
  sql: Sql,
  walk: MessageWalk,
  max: number,
): Promise<{ readonly count: number; readonly exact: boolean }> {
  let count = 0;
  let examined = 0;
  for (const { range, filter } of partsOf(walk, null)) {
    const driver = await rarestDriver(sql, walk.workspace_id, await driversOf(sql, walk.workspace_id, filter), range);
    let { before } = range;
    for (;;) {
      if (examined >= max) return { count, exact: false };
      const step = Math.min(COUNTED_AT_ONCE, max - examined);
      const tally = await countAmong(sql, walk.workspace_id, driver, filter, { from: range.from, before }, step);
      count += tally.passed;
      examined += tally.examined;
      if (tally.examined < step) break;
      before = tally.edge ?? before;
    }
  }
  return { count, exact: true };
}

export function otherStatuses(statuses: readonly DeliveryState[]): DeliveryState[] {
  return deliveryStates.filter((state) => !statuses.includes(state));
}

function partsOf(walk: MessageWalk, position: string | null): readonly KeptPart[] {
  const filter = walkFilter(walk);
  return filter === null ? [] : keptParts(walkRange(walk, position), filter, walk.oldest_kept);
}

function walkRange({ filters, before }: MessageWalk, position: string | null): IdRange {
  const until = filters.until && filters.until < before ? filters.until : before;
  return idRange('message', { since: filters.since, until }, position);
}

/** Returns the log filter of a walk; null if nothing can match. */
function walkFilter({
  filters,
  statuses,
  deferred = false,
  tried: has_attempts = null,
}: MessageWalk): MessageFilter | null {
  const filter = filterOf(filters);
  const both = statuses?.filter((state) => filter.statuses?.includes(state) ?? true) ?? filter.statuses;
  return both?.length === 0 ? null : { ...filter, statuses: both, deferred, tried: has_attempts };
}
