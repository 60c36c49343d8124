import type { Sql, Tx } from '@postrider/db';

// What somebody may do to a job by hand. Each asks in its own update whether the job is still as it has to be, so of
// two who reach for one job, a worker among them, one wins. pg-boss's own ask less: its cancel takes a job that runs.

export interface JobKey {
  readonly queue: string;
  readonly id: string;
}

/** Another try for a job whose retries are used up, or that was canceled. */
export async function retryEnded(tx: Sql | Tx, { queue, id }: JobKey): Promise<boolean> {
  const rows = await tx`
    update pgboss.job j set state = 'retry', retry_limit = greatest(j.retry_limit, j.retry_count + 1),
      completed_on = null, start_after = pgboss.job_now(),
      keep_until = pgboss.job_now() + make_interval(secs => q.retention_seconds)
    from pgboss.queue q
    where q.name = ${queue} and j.name = ${queue} and j.id = ${id} and j.state in ('failed', 'cancelled')
    returning j.id`;
  return rows.length > 0;
}

/** Ends a job that waits, or that is dead. */
export async function cancelWaiting(tx: Sql | Tx, { queue, id }: JobKey): Promise<boolean> {
  const rows = await tx`
    update pgboss.job j set state = 'cancelled', completed_on = pgboss.job_now()
    where j.name = ${queue} and j.id = ${id} and j.state in ('created', 'retry', 'failed')
    returning j.id`;
  return rows.length > 0;
}

/** Makes a job that waits for its time due at once. */
export async function runWaiting(tx: Sql | Tx, { queue, id }: JobKey): Promise<boolean> {
  const rows = await tx`
    update pgboss.job j set start_after = pgboss.job_now(),
      keep_until = pgboss.job_now() + make_interval(secs => q.retention_seconds)
    from pgboss.queue q
    where q.name = ${queue} and j.name = ${queue} and j.id = ${id} and j.state in ('created', 'retry')
      and j.start_after > pgboss.job_now()
    returning j.id`;
  return rows.length > 0;
}

/** Another try for the dead of a queue, those that are dead for longest first. Two at once skip each other's rows. */
export async function redriveDead(tx: Tx, queue: string, most: number): Promise<number> {
  const rows = await tx`
    with picked as materialized (
      select j.id from pgboss.job j
      where j.name = ${queue} and j.state = 'failed' and not j.blocked
      order by j.start_after limit ${most} for update skip locked
    )
    update pgboss.job j set state = 'retry', retry_limit = greatest(j.retry_limit, j.retry_count + 1),
      completed_on = null, start_after = pgboss.job_now(),
      keep_until = pgboss.job_now() + make_interval(secs => q.retention_seconds)
    from pgboss.queue q
    where q.name = ${queue} and j.name = ${queue} and j.id = any (array(select id from picked)) and j.state = 'failed'
    returning j.id`;
  return rows.length;
}

/** How many of a queue are dead, counted up to a bound. */
export async function countDead(sql: Sql | Tx, queue: string, most: number): Promise<number> {
  const [row] = await sql<{ count: number }[]>`
    select count(*)::int as count from (
      select from pgboss.job j where j.name = ${queue} and j.state = 'failed' and not j.blocked limit ${most}
    ) dead`;
  return row?.count ?? 0;
}
