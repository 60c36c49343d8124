import type { Fragment, Sql, Tx } from '@postrider/db';
import type { IdRange } from './candidate-pages.ts';

/** Builds the condition that an id is in a range. */
export function within(sql: Sql | Tx, id: Fragment, range: IdRange): Fragment {
  return sql`${id} >= ${range.from} and ${id} < ${range.before}`;
}

/**
 * Builds the condition that an id is among these, with their overall bounds: partitions outside the bounds are pruned
 * when the statement starts.
 */
export function idIn(sql: Sql | Tx, id: Fragment, ids: readonly string[]): Fragment {
  return sql`${id} = any (${[...ids]}::uuid[]) and ${withinBounds(sql, id, ids)}`;
}

/** Restricts a column to the range that the ids span, without listing them, for ids that are looked up one by one. */
export function withinBounds(sql: Sql | Tx, id: Fragment, ids: readonly string[]): Fragment {
  const sorted = ids.toSorted();
  return sql`${id} >= ${sorted[0] ?? ''} and ${id} <= ${sorted.at(-1) ?? ''}`;
}
