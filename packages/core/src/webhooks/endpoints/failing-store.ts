import type { Fragment, Sql, Tx } from '@postrider/db';

/** An endpoint fails once none of its posts has succeeded for this long. A single failed post means little. */
export const FAILING_SECONDS = 600;

/** Returns SQL for whether an enabled endpoint is failing, from its first failure since the last success. */
export function isFailing(sql: Sql | Tx, failing_since: Fragment): Fragment {
  return sql`${failing_since} < clock_now() - make_interval(secs => ${FAILING_SECONDS})`;
}
