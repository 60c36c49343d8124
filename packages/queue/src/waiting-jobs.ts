import type { Fragment, Sql, Tx } from '@postrider/db';

/** Returns the `from` and `where` clauses for the due jobs of a queue, with the job as `j`. */
export function fromReadyJobs(sql: Sql | Tx, queue: Fragment): Fragment {
  return sql`from pgboss.job j
    where j.name = ${queue} and j.state < 'active' and not j.blocked and j.start_after <= pgboss.job_now()`;
}

/** Returns the `from` and `where` clauses for the jobs of a queue that were due by a time. */
export function fromJobsDueBy(sql: Sql | Tx, queue: Fragment, at: Fragment): Fragment {
  return sql`from pgboss.job j
    where j.name = ${queue} and j.state in ('created', 'retry') and not j.blocked and j.start_after <= ${at}`;
}

/** Returns a subquery of the payloads of fetched jobs. */
export function fetchedJobs(sql: Sql | Tx, queue: Fragment): Fragment {
  return sql`select j.data from pgboss.job j where j.name = ${queue} and j.state = 'active'`;
}

/**
 * Returns a query for the number of jobs due before a waiting job, with the same or a higher priority, counted up to a
 * limit. The query returns no row if the job no longer exists, and uses the index of states.
 */
export function jobsAhead(sql: Sql | Tx, queue: Fragment, id: string, max: number): Fragment {
  return sql`
    select case when j.state = 'active' then 0 else (
        select count(*)::int from (
          select from pgboss.job o
          where o.name = ${queue} and o.state in ('created', 'retry') and not o.blocked
            and o.priority >= j.priority and o.start_after < j.start_after
          limit ${max}
        ) c
      ) end as ahead
    from pgboss.job j where j.name = ${queue} and j.id = ${id} and j.state < 'completed'`;
}

/**
 * Deletes all due jobs of a queue except the newest, because a schedule continues to add jobs while its queue is held.
 */
export async function keepNewestReadyJob(tx: Tx, queue: string): Promise<void> {
  await tx`
    delete from pgboss.job where name = ${queue} and id = any (array(
      select j.id from pgboss.job j
      where j.name = ${queue} and j.state = 'created' and j.start_after <= pgboss.job_now() and j.id <> (
        select k.id from pgboss.job k
        where k.name = ${queue} and k.state = 'created' and k.start_after <= pgboss.job_now()
        order by k.created_on desc, k.id desc limit 1
      )
      for update of j skip locked
    ))`;
}
