import type { Fragment, Sql, Tx } from '@postrider/db';
import type { JobKey } from './job-levers.ts';

/** Permanently failed jobs of one queue, between two times. */
export interface DeadRange {
  readonly queue: string;
  readonly since: Date | null;
  readonly before: Date;
}

export interface DeadJob {
  readonly id: string;
  /** The cursor for the page that starts after this job. */
  readonly position: string;
}

/**
 * Returns the next dead jobs of a queue by completed_on, after a position. Uses pg-boss's index of ended jobs, which
 * contains few other rows, because completed jobs are removed.
 */
export async function nextDeadJobs(
  sql: Sql | Tx,
  { queue, since, before }: DeadRange,
  position: string | null,
  count: number,
): Promise<DeadJob[]> {
  const [at = null, id = null] = position?.split(' ') ?? [];
  return sql<DeadJob[]>`
    select j.id::text as id, extract(epoch from j.completed_on)::text || ' ' || j.id::text as position
    from pgboss.job j
    where j.name = ${queue} and j.completed_on is not null and j.completed_on < ${before} and j.state = 'failed'
      and j.completed_on >= coalesce(to_timestamp(${at}::text::numeric::float8), ${since}::timestamptz, '-infinity')
      and (${id}::text is null or (extract(epoch from j.completed_on), j.id) > (${at}::text::numeric, ${id}::text::uuid))
    order by j.completed_on, j.id limit ${count}`;
}

/** Returns the number of dead jobs of a queue, counted up to a limit. */
export async function countDead(sql: Sql | Tx, queue: string, max: number): Promise<number> {
  const [row] = await sql<{ count: number }[]>`
    select count(*)::int as count from (
      select from pgboss.job j where j.name = ${queue} and j.state = 'failed' and not j.blocked limit ${max}
    ) dead`;
  return row?.count ?? 0;
}

/** Returns the number of dead jobs between two times, counted up to a limit. */
export async function countDeadJobs(sql: Sql | Tx, { queue, since, before }: DeadRange, max: number): Promise<number> {
  const [row] = await sql<{ count: number }[]>`
    select count(*)::int as count from (
      select from pgboss.job j
      where j.name = ${queue} and j.completed_on is not null and j.completed_on < ${before} and j.state = 'failed'
        and j.completed_on >= coalesce(${since}::timestamptz, '-infinity')
      limit ${max}
    ) dead`;
  return row?.count ?? 0;
}

/** Retries a dead or canceled job. */
export async function retryEnded(tx: Sql | Tx, { queue, id }: JobKey): Promise<boolean> {
  const finished_job = tx`
    select j.id from pgboss.job j
    where j.name = ${queue} and j.id = ${id} and j.state in ('failed', 'cancelled') for update`;
  return (await revive(tx, queue, finished_job)).length > 0;
}

/** Retries the given jobs that are still dead, and returns their ids. */
export async function reviveJobs(tx: Tx, queue: string, ids: readonly string[]): Promise<Set<string>> {
  const dead = tx`
    select j.id from pgboss.job j
    where j.name = ${queue} and j.id = any (${ids.toSorted()}::uuid[]) and j.state = 'failed'
    order by j.id for update`;
  return new Set(await revive(tx, queue, dead));
}

/** Retries dead jobs of a queue, oldest first. Concurrent calls skip each other's rows. */
export async function redriveDead(tx: Tx, queue: string, max: number): Promise<number> {
  const dead = tx`
    select j.id from pgboss.job j
    where j.name = ${queue} and j.state = 'failed' and not j.blocked
    order by j.start_after limit ${max} for update skip locked`;
  return (await revive(tx, queue, dead)).length;
}

/**
 * Makes ended jobs due immediately with at least one retry left, and returns their ids. The source locks the jobs and
 * checks their state.
 */
async function revive(tx: Sql | Tx, queue: string, source: Fragment): Promise<string[]> {
  const rows = await tx<{ id: string }[]>`
    with ended as materialized (${source})
    update pgboss.job j set state = 'retry', retry_limit = greatest(j.retry_limit, j.retry_count + 1),
      completed_on = null, start_after = pgboss.job_now(),
      keep_until = pgboss.job_now() + make_interval(secs => q.retention_seconds)
    from pgboss.queue q
    where q.name = ${queue} and j.name = ${queue} and j.id = any (array(select id from ended))
    returning j.id::text as id`;
  return rows.map((row) => row.id);
}
