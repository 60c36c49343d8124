import type { Sql, Tx } from '@postrider/db';

// Admin actions on single jobs. Each action checks the job's state in its own update, so exactly one of two concurrent
// actions (or of an action and a worker) succeeds. pg-boss's own functions check less: its cancel also accepts a
// running job.

export interface JobKey {
  readonly queue: string;
  readonly id: string;
}

/** Cancels a waiting or dead job. */
export async function cancelWaiting(tx: Sql | Tx, { queue, id }: JobKey): Promise<boolean> {
  const rows = await tx`
    update pgboss.job j set state = 'cancelled', completed_on = pgboss.job_now()
    where j.name = ${queue} and j.id = ${id} and j.state in ('created', 'retry', 'failed')
    returning j.id`;
  return rows.length > 0;
}

/** Cancels the given jobs that are still waiting. */
export async function cancelAllWaiting(tx: Tx, queue: string, ids: readonly string[]): Promise<void> {
  if (ids.length === 0) return;
  await tx`
    update pgboss.job j set state = 'cancelled', completed_on = pgboss.job_now()
    where j.name = ${queue} and j.id = any (${[...ids]}::uuid[]) and j.state in ('created', 'retry')`;
}

/** Makes a deferred job due immediately. */
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
