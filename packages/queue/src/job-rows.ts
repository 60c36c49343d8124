import { equalsByRange, type Fragment, type Sql, type Tx, unindexed } from '@postrider/db';
import type { JobHold } from './catalogue.ts';

// pg-boss's own insert accepts one job at a time or a JSON string. A batch of columns inside our own statement is a
// third cheaper and saves a round trip. In return, the rows inserted here must match those of the pinned pg-boss:
// readJobTables rejects a different schema, and a test compares a row with pg-boss's own.

/** A fetch of new jobs still finds a job that was committed up to this long after its created_on. */
const COMMIT_SECONDS = 0.3;

/** The table of a queue, as created by installQueue. */
export interface JobTable {
  readonly name: string;
  readonly table: string;
  /** Whether this Postgres version can skip the name in an index of name and id. */
  readonly skips_names: boolean;
}

const SKIPPING_VERSION = 180_000;

const EXPECTED_COLUMNS =
  'blocked,blocking,completed_on,created_on,data,dead_letter,deletion_seconds,expire_seconds,group_id,group_tier,' +
  'heartbeat_on,heartbeat_seconds,id,keep_until,name,output,pending_dependencies,policy,priority,retry_backoff,' +
  'retry_count,retry_delay,retry_delay_max,retry_limit,singleton_key,singleton_on,source_created_on,source_id,' +
  'source_name,source_output,source_retry_count,source_root_id,start_after,started_on,state,trace_context,upsert_by_key';

export async function readJobTables(sql: Sql): Promise<Map<string, JobTable>> {
  const [columns] = await sql<{ names: string }[]>`
    select string_agg(attname, ',' order by attname collate "C") as names from pg_attribute
    where attrelid = 'pgboss.job'::regclass and attnum > 0 and not attisdropped`;
  if (columns?.names !== EXPECTED_COLUMNS) {
    throw new Error(`pgboss.job has other columns than the pinned pg-boss: ${columns?.names}; run postrider migrate.`);
  }
  const rows = await sql<JobTable[]>`
    select name, table_name as table,
      partition and current_setting('server_version_num')::int >= ${SKIPPING_VERSION} as skips_names
    from pgboss.queue`;
  return new Map(rows.map((row) => [row.name, row]));
}

/**
 * Inserts jobs, as a fragment. The source yields id uuid, data jsonb, start_after timestamptz (null for now), and
 * priority int.
 */
export function jobInsertion(sql: Sql | Tx, queue: JobTable, source: Fragment): Fragment {
  return sql`
    insert into ${sql(`pgboss.${queue.table}`)} (id, name, data, priority, start_after, created_on, keep_until, retry_limit,
      retry_delay, retry_backoff, expire_seconds, deletion_seconds, policy, heartbeat_seconds)
    select s.id, q.name, s.data, s.priority, coalesce(s.start_after, pgboss.job_now()), pgboss.job_now(),
      coalesce(s.start_after, pgboss.job_now()) + make_interval(secs => q.retention_seconds), q.retry_limit,
      q.retry_delay, q.retry_backoff, q.expire_seconds, q.deletion_seconds, q.policy, q.heartbeat_seconds
    from (${source}) s cross join pgboss.queue q
    where q.name = ${queue.name}`;
}

/**
 * Installs the same insert as a database function, for jobs that are due now. The function names the queue's table, so
 * each installation replaces the function. Before the first installation, callers of the function fail.
 */
export async function installJobFunction(sql: Sql, queue: string, name: string): Promise<void> {
  const [row] = await sql<{ statement: string }[]>`
    select format($outer$
      create or replace function public.%I(jobs jsonb[]) returns void language plpgsql as $body$
      begin
        insert into pgboss.%I (id, name, data, start_after, created_on, keep_until, retry_limit, retry_delay,
          retry_backoff, expire_seconds, deletion_seconds, policy, heartbeat_seconds)
        select gen_random_uuid(), q.name, s.data, pgboss.job_now(), pgboss.job_now(),
          pgboss.job_now() + make_interval(secs => q.retention_seconds), q.retry_limit, q.retry_delay, q.retry_backoff,
          q.expire_seconds, q.deletion_seconds, q.policy, q.heartbeat_seconds
        from unnest(jobs) as s (data) cross join pgboss.queue q
        where q.name = %L;
      end $body$ $outer$, ${name}::text, q.table_name, q.name) as statement
    from pgboss.queue q where q.name = ${queue}`;
  if (!row) throw new Error(`the queue ${queue} is not installed`);
  // Postgres fails one of two concurrent replacements of a function.
  await sql.begin(async (tx) => {
    await tx`select pg_advisory_xact_lock(hashtextextended(${`function ${name}`}, 0))`;
    await tx.unsafe(row.statement);
  });
}

/**
 * Returns the ctid of the job with an id. Every pg-boss index begins with the name, and the plan may be made while the
 * table is empty or not analyzed. An index of name and time then looks as good as the primary key, and each lookup
 * would scan all jobs. Only the primary key contains the id, so only the id is compared, and Postgres 18 skips over the
 * table's single name. Older versions cannot skip names, so a range with an order by id selects the primary key.
 */
function placeOf(sql: Sql | Tx, queue: JobTable, id: Fragment, unchanged: Fragment): Fragment {
  const source = queue.skips_names
    ? sql`j.id = ${id} and ${unchanged} limit 1`
    : sql`j.name = ${queue.name} and ${equalsByRange(sql, sql`j.id`, id)} and ${unchanged} order by j.id limit 1`;
  return sql`select j.ctid as place from ${sql(`pgboss.${queue.table}`)} j where ${source}`;
}

/** Returns the ctid like placeOf, for a fetched job that has not been fetched again since. */
function heldPlace(sql: Sql | Tx, queue: JobTable, id: Fragment, retry_count: Fragment): Fragment {
  return sql`${placeOf(sql, queue, id, sql`j.state${unindexed} = 'active' and j.retry_count = ${retry_count}`)} for update`;
}

/**
 * Deletes fetched jobs, as a fragment that returns their ids. Deleting a row costs less than completing a row that
 * pg-boss deletes later. The source yields id uuid and retry_count integer. A job that another worker has fetched since
 * stays. Each job is looked up separately and deleted by its ctid.
 */
export function jobRemoval(sql: Sql | Tx, queue: JobTable, source: Fragment): Fragment {
  return sql`
    delete from ${sql(`pgboss.${queue.table}`)} where ctid = any (array(
      select held.place from (${source}) s
      cross join lateral (${heldPlace(sql, queue, sql`s.id`, sql`s.retry_count`)}) held
    )) returning id`;
}

/** Returns the given ids that have no waiting or running job. */
export async function idsWithoutLiveJob(sql: Sql | Tx, queue: JobTable, ids: readonly string[]): Promise<string[]> {
  const rows = await sql<{ id: string }[]>`
    select asked.id from unnest(${ids}::uuid[]) as asked(id)
    left join lateral (${placeOf(sql, queue, sql`asked.id`, sql`j.state < 'completed'`)}) live on true
    where live.place is null`;
  return rows.map((row) => row.id);
}

/** The priority, count and age of the jobs that a fetch requests. */
export interface JobRequest {
  /** Fetches only jobs of this priority. If null, fetches jobs of any priority, highest first. */
  readonly priority: number | null;
  readonly count: number;
  /**
   * Skips jobs created well before this time, along with the dead index entries of fetched jobs. Null skips no jobs.
   */
  readonly created_after: Date | null;
}

/**
 * Fetches ready jobs, as a fragment that returns id, retry_count, data, priority and created_on. Makes the same change
 * as pg-boss's fetch, with the same order among jobs of one priority. Dead index entries of fetched jobs cost time
 * until a vacuum; `created_after` skips them. Jobs with the same created_on are ordered by start_after: only one index
 * has that order, so no plan can use another index or sort all ready jobs.
 *
 * The transaction does not wait for the disk, because a fetch lost in a Postgres crash is repeated. The transaction
 * must not contain any other write that has to be durable.
 */
export function jobAcquisition(
  sql: Sql | Tx,
  queue: JobTable,
  holder: string,
  requests: readonly JobRequest[],
): Fragment {
  const table = sql(`pgboss.${queue.table}`);
  const places = requests.map(({ priority, count, created_after }) => {
    const priority_filter = priority === null ? sql`` : sql`and j.priority = ${sql.unsafe(String(priority))}`;
    const creation_filter = created_after
      ? sql`and j.created_on >= ${created_after.toISOString()}::text::timestamptz - make_interval(secs => ${COMMIT_SECONDS})`
      : sql``;
    return sql`array(
      select n.place from (
        select j.ctid as place from ${table} j
        where j.name = ${queue.name} and j.state < 'active' and not j.blocked and j.start_after <= pgboss.job_now()
          ${priority_filter} ${creation_filter}
        order by j.priority desc, j.created_on, j.start_after limit ${count}::int
        for update skip locked
      ) n
    )`;
  });
  return sql`
    update ${table} j set state = 'active', started_on = pgboss.job_now(), heartbeat_on = pgboss.job_now(),
      source_id = ${holder}::uuid,
      retry_count = case when j.started_on is not null then j.retry_count + 1 else j.retry_count end
    where (select set_config('synchronous_commit', 'off', true)) is not null and j.ctid = any (${places.reduce((all, some) => sql`${all} || ${some}`)})
    returning j.id, j.retry_count, j.data, j.priority, j.created_on`;
}

/**
 * Restores withdrawn jobs as fetched by the caller. The source yields id uuid, data jsonb and priority int. A job that
 * exists again for another reason is left unchanged.
 */
export function jobResumption(sql: Sql | Tx, queue: JobTable, holder: string, source: Fragment): Fragment {
  return sql`
    insert into ${sql(`pgboss.${queue.table}`)} (id, name, data, priority, state, start_after, created_on, started_on,
      heartbeat_on, source_id, keep_until, retry_limit, retry_delay, retry_backoff, expire_seconds, deletion_seconds, policy,
      heartbeat_seconds)
    select s.id, q.name, s.data, s.priority, 'active', pgboss.job_now(), pgboss.job_now(), pgboss.job_now(), pgboss.job_now(),
      ${holder}::uuid,
      pgboss.job_now() + make_interval(secs => q.retention_seconds), q.retry_limit, q.retry_delay, q.retry_backoff,
      q.expire_seconds, q.deletion_seconds, q.policy, q.heartbeat_seconds
    from (${source}) s cross join pgboss.queue q
    where q.name = ${queue.name}
    on conflict do nothing`;
}

/**
 * Renews the heartbeats of fetched jobs. Locked jobs are being settled and need no heartbeat. pg-boss's own statement
 * waits for those rows in a different order, and deadlocked with the settles.
 */
export async function touchJobs(sql: Sql, queue: JobTable, jobs: readonly JobHold[]): Promise<void> {
  const unchanged = sql`j.state${unindexed} = 'active' and j.retry_count = s.retry_count`;
  await sql`
    update ${sql(`pgboss.${queue.table}`)} set heartbeat_on = pgboss.job_now()
    where ctid = any (array(
      select held.place from unnest(
        ${jobs.map(({ id }) => id)}::uuid[],
        ${jobs.map(({ retry_count }) => retry_count)}::int[]
      ) as s (id, retry_count)
      cross join lateral (${placeOf(sql, queue, sql`s.id`, unchanged)} for update skip locked) held
    ))`;
}

/** Records who holds jobs that pg-boss has fetched. */
export async function holdJobs(sql: Sql, queue: JobTable, holder: string, jobs: readonly JobHold[]): Promise<void> {
  await sql`
    update ${sql(`pgboss.${queue.table}`)} set source_id = ${holder}::uuid
    where ctid = any (array(
      select held.place from unnest(
        ${jobs.map(({ id }) => id)}::uuid[],
        ${jobs.map(({ retry_count }) => retry_count)}::int[]
      ) as s (id, retry_count)
      cross join lateral (${heldPlace(sql, queue, sql`s.id`, sql`s.retry_count`)}) held
    ))`;
}

/** A freed job. */
export interface FreedRow {
  readonly id: string;
  readonly data: unknown;
}

/**
 * Frees the jobs of a queue that a dead process holds, makes them due immediately, and returns them. pg-boss uses
 * source_id for jobs of dead letter queues, which we do not use, so here source_id names the holder. Uses the index of
 * states. Jobs with a heartbeat after `seen_until` belong to a live process.
 */
export async function freeJobs(tx: Tx, queue: JobTable, holder: string, seen_until: Date | null): Promise<FreedRow[]> {
  const table = tx(`pgboss.${queue.table}`);
  return tx<FreedRow[]>`
    update ${table} set state = 'retry', start_after = pgboss.job_now(), retry_limit = retry_limit + 1
    where ctid = any (array(
      select j.ctid from ${table} j where j.name = ${queue.name} and j.state = 'active' and j.source_id = ${holder}::uuid
        and (${seen_until}::timestamptz is null or j.heartbeat_on <= ${seen_until}::timestamptz)
      order by j.id for update skip locked
    )) returning id, data`;
}

/**
 * Frees jobs that a live process holds without knowing it, because the response to their fetch was lost. Jobs fetched
 * within the last seconds are left unchanged, because their response may still be in transit. The time counts from
 * before `known` is called, so nothing fetched after that is freed.
 */
export async function freeUnknownJobs(
  tx: Tx,
  queue: JobTable,
  holder: string,
  known: () => readonly string[],
  seconds: number,
): Promise<FreedRow[]> {
  const table = tx(`pgboss.${queue.table}`);
  const [clock] = await tx<{ quiet_since: string }[]>`
    select (pgboss.job_now() - make_interval(secs => ${seconds}))::text as quiet_since`;
  if (!clock) return [];
  return tx<FreedRow[]>`
    update ${table} set state = 'retry', start_after = pgboss.job_now(), retry_limit = retry_limit + 1
    where ctid = any (array(
      select j.ctid from ${table} j where j.name = ${queue.name} and j.state = 'active' and j.source_id = ${holder}::uuid
        and j.heartbeat_on < ${clock.quiet_since}::text::timestamptz and j.id <> all (${[...known()]}::uuid[])
      order by j.id for update skip locked
    )) returning id, data`;
}

/** Completes a fetched job. A completed job is retained for inspection, for less time than a dead job. */
export async function jobCompletion(sql: Sql, queue: JobTable, hold: JobHold, kept_seconds: number): Promise<void> {
  await sql`
    update ${sql(`pgboss.${queue.table}`)} set state = 'completed', completed_on = pgboss.job_now(), output = null,
      deletion_seconds = ${kept_seconds}
    where ctid = any (array(${holdPlace(sql, queue, hold)}))`;
}

/**
 * Returns a fetched job to the queue, due immediately. The next fetch counts as a retry, which fences off this attempt,
 * so the retry limit grows by one.
 */
export async function jobReturn(sql: Sql, queue: JobTable, hold: JobHold): Promise<void> {
  await sql`
    update ${sql(`pgboss.${queue.table}`)} set state = 'retry', start_after = pgboss.job_now(),
      retry_limit = retry_limit + 1
    where ctid = any (array(${holdPlace(sql, queue, hold)}))`;
}

function holdPlace(sql: Sql, queue: JobTable, { id, retry_count }: JobHold): Fragment {
  return heldPlace(sql, queue, sql`${id}::uuid`, sql`${retry_count}::int`);
}
