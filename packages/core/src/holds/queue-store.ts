import type { Fragment, Sql, Tx } from '@postrider/db';
import { instanceQueues } from './scope.ts';

/** Builds the condition that hold h stops a queue. */
export function holdsQueue(sql: Sql | Tx, queue: Fragment): Fragment {
  return sql`(
    h.ended_at is null and h.expires_at > clock_now()
    and (h.scope = 'queue' and h.value = ${queue} or h.scope = 'instance' and ${queue} = any (${[...instanceQueues]}::text[]))
  )`;
}

/** Builds the expression for the queue whose backlog hold h releases at its rate. */
export function ratedQueue(sql: Sql | Tx): Fragment {
  return sql`case h.scope when 'instance' then 'delivery.attempt' else h.value end`;
}
