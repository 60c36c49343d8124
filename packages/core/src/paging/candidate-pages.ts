import { type IdKind, idFloor } from '../fields/ids.ts';
import { type CursorScope, type List, pageOf, withCursors, writeCursor } from './list.ts';

/** Ids of a list between two bounds: `from` is inclusive, `before` is exclusive. */
export interface IdRange {
  readonly from: string;
  readonly before: string;
}

// Sort before and after every id in byte order.
const FIRST = '';
const LAST = '~';

/**
 * Returns the ids that follow a cursor, created at or after `since` and before `until`; ids contain their creation
 * time.
 */
export function idRange(
  kind: IdKind,
  { since, until }: { readonly since?: Date | undefined; readonly until?: Date | undefined },
  cursor: string | null,
): IdRange {
  const end = until ? idFloor(kind, until.getTime()) : LAST;
  return {
    from: since ? idFloor(kind, since.getTime()) : FIRST,
    before: cursor !== null && cursor < end ? cursor : end,
  };
}

/** A run of consecutive ids, and the rows among them that pass every filter. */
export interface Candidates<R> {
  readonly rows: readonly R[];
  readonly examined: number;
  /** The last id examined. */
  readonly edge: string | null;
}

/** A row of a statement that counts its candidates in every row; all other columns are null if no candidate passed. */
export type CandidateRow<R> = Partial<R> & { readonly examined: number; readonly edge: string | null };

/** Converts rows with a candidate count; the left join returns one row even if no candidate passed. */
export function candidatesOf<R extends { readonly id: string }>(rows: readonly CandidateRow<R>[]): Candidates<R> {
  return {
    examined: rows[0]?.examined ?? 0,
    edge: rows[0]?.edge ?? null,
    rows: rows.filter((row): row is CandidateRow<R> & R => row.id != null),
  };
}

// How many candidates one request may examine. Each costs up to 5 µs per filter, and a page should take less than 10
// ms; the first step is short because most pages fill up in it.
const STEPS = [100, 900];

export interface FilteredRows<R> {
  readonly rows: readonly R[];
  /** Where the next page begins if this page ends short of its limit; null if nothing was left unexamined. */
  readonly edge: string | null;
}

/**
 * Collects a page from candidates that an index returns in order. If all of them pass, only as many as requested are
 * examined. If few of very many pass, the page ends short of its limit and the next one continues from there, so no
 * combination of filters makes one request read without bound.
 */
export async function collectPage<R extends { readonly id: string }>(
  range: IdRange,
  limit: number,
  all_pass: boolean,
  examine: (range: IdRange, count: number, limit: number) => Promise<Candidates<R>>,
): Promise<FilteredRows<R>> {
  const { rows, rest } = await collect(range, limit, all_pass, examine, true);
  return { rows, edge: rest?.before ?? null };
}

/**
 * Collects the page that ends before an id, or at the end of a list: candidates come oldest first, and rows stay newest
 * first.
 */
export async function collectBackward<R extends { readonly id: string }>(
  range: IdRange,
  limit: number,
  all_pass: boolean,
  examine: (range: IdRange, count: number, limit: number) => Promise<Candidates<R>>,
): Promise<FilteredRows<R>> {
  const { rows, rest } = await collect(range, limit, all_pass, examine, false);
  return { rows, edge: rest?.from ?? null };
}

/**
 * Returns the rows found, newest first, and the range left unexamined; the range is null if nothing is left or the page
 * is full.
 */
async function collect<R extends { readonly id: string }>(
  range: IdRange,
  limit: number,
  all_pass: boolean,
  examine: (range: IdRange, count: number, limit: number) => Promise<Candidates<R>>,
  newest_first: boolean,
): Promise<{ readonly rows: readonly R[]; readonly rest: IdRange | null }> {
  const rows: R[] = [];
  let rest = range;
  for (const step of all_pass ? [limit] : STEPS) {
    const count = Math.max(step, limit);
    const { rows: batch, examined, edge } = await examine(rest, count, limit - rows.length);
    if (newest_first) rows.push(...batch);
    else rows.unshift(...batch);
    if (rows.length >= limit || examined < count) return { rows, rest: null };
    if (edge !== null) rest = newest_first ? { ...rest, before: edge } : { ...rest, from: behindId(edge) };
  }
  return { rows, rest };
}

/** Returns the start of a range that excludes an id: no other id sorts between the two. */
export function behindId(id: string): string {
  return `${id}!`;
}

export function collectedPage<R extends { readonly id: string }, T>(
  scope: CursorScope,
  { rows, edge }: FilteredRows<R>,
  limit: number,
  entry: (row: R) => T,
): List<T> {
  const page = pageOf(scope, rows, limit, entry);
  if (page.has_more || edge === null) return page;
  return withCursors(scope, { ...page, has_more: true, next_cursor: writeCursor(scope, edge) });
}
