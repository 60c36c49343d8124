import type { Fragment, Sql } from '@postrider/db';
import type { IdRange } from './candidate-pages.ts';

/** A range of ids in an index that is collated "POSIX", whose order only such an index gives. */
export function within(sql: Sql, id: Fragment, range: IdRange): Fragment {
  return sql`${id} collate "POSIX" >= ${range.from} and ${id} collate "POSIX" < ${range.before}`;
}
