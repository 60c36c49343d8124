import type { Sql, Tx } from '@postrider/db';

// What somebody may do to a job by hand. Each asks in its own update whether the job is still as it has to be, so of
// two who reach for one job, a worker among them, one wins. pg-boss's own ask less: its cancel takes a job that runs.

export interface JobKey {
  readonly queue: string;
  readonly id: string;
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
