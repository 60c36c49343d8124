import type { Fragment, Sql, Tx } from '@postrider/db';
import { jobPriorities } from './priority.ts';

/**
 * Builds the expression for the job priority of a message priority; anything other than high and bulk maps to normal.
 */
export function jobPriorityOf(sql: Sql | Tx, priority: Fragment): Fragment {
  const { high, normal, bulk } = jobPriorities;
  return sql`case ${priority} when 'high' then ${sql.unsafe(String(high))} when 'bulk' then ${sql.unsafe(String(bulk))}
    else ${sql.unsafe(String(normal))} end`;
}
