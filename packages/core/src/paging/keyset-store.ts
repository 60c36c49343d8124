import type { Fragment, Sql, Tx } from '@postrider/db';
import type { IdRange } from './candidate-pages.ts';

/** A range of ids. */
export function within(sql: Sql | Tx, id: Fragment, range: IdRange): Fragment {
  return sql`${id} >= ${range.from} and ${id} < ${range.before}`;
}

/** Some ids, and the bounds of all of them: partitions that lie outside are left out when the statement starts. */
export function among(sql: Sql | Tx, id: Fragment, ids: readonly string[]): Fragment {
  return sql`${id} = any (${[...ids]}::uuid[]) and ${withinBounds(sql, id, ids)}`;
}

/** The bounds alone, for where the ids come one by one. */
export function withinBounds(sql: Sql | Tx, id: Fragment, ids: readonly string[]): Fragment {
  const sorted = ids.toSorted();
  return sql`${id} >= ${sorted[0] ?? ''} and ${id} <= ${sorted.at(-1) ?? ''}`;
}
