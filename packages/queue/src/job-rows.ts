import type { Fragment, Sql, Tx } from '@postrider/db';
import type { JobHold } from './catalogue.ts';

// pg-boss's own insert takes one job at a time or a JSON text; a batch of columns inside our own statement
// is a third cheaper and one round trip less. The price: these rows must be what the pinned pg-boss would
// write. readJobTables refuses a schema that differs, and a test compares a row with pg-boss's own.

/** How long a job may take from when its row is made until others see it, and be found where only new ones are. */
const COMMIT_SECONDS = 0.3;

/** What a queue's rows have in common, as installQueue has stored it. */
export interface JobTable {
  readonly name: string;
  readonly table: string;
  /** Whether this Postgres finds an id by an index that begins with the name. */
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
    throw new Error(`pgboss.job has other columns than the pinned pg-boss: ${columns?.names}; run npm run migrate.`);
  }
  const rows = await sql<JobTable[]>`
    select name, table_name as table,
      partition and current_setting('server_version_num')::int >= ${SKIPPING_VERSION} as skips_names
    from pgboss.queue`;
  return new Map(rows.map((row) => [row.name, row]));
}

/**
 * The insert of jobs as a part of a statement. The source yields id uuid, data jsonb and start_after
 * timestamptz, null for now.
 */
export function jobInsertion(sql: Sql | Tx, queue: JobTable, source: Fragment): Fragment {
  return sql`
    insert into ${sql(`pgboss.${queue.table}`)} (id, name, data, start_after, created_on, keep_until, retry_limit,
      retry_delay, retry_backoff, expire_seconds, deletion_seconds, policy, heartbeat_seconds)
    select s.id, q.name, s.data, coalesce(s.start_after, pgboss.job_now()), pgboss.job_now(),
      coalesce(s.start_after, pgboss.job_now()) + make_interval(secs => q.retention_seconds), q.retry_limit,
      q.retry_delay, q.retry_backoff, q.expire_seconds, q.deletion_seconds, q.policy, q.heartbeat_seconds
    from (${source}) s cross join pgboss.queue q
    where q.name = ${queue.name}`;
}

/**
 * The same insert as a function of the database, for jobs that are due now. It names the table of the queue, so it is
 * made anew with every installation; until the first one, what calls it fails.
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
  // Of two that replace a function at once, Postgres refuses one.
  await sql.begin(async (tx) => {
    await tx`select pg_advisory_xact_lock(hashtextextended(${`function ${name}`}, 0))`;
    await tx.unsafe(row.statement);
  });
}

/**
 * Where the job of an id is, at most one. Every index of pg-boss begins with the name, and a plan is made while the
 * table may be empty or nothing known of it: then an index of the name and a time looks as good as the primary key, and
 * all jobs would be walked for each one that is asked for. Nothing but the primary key has the id, so it is asked for
 * alone, and Postgres skips over the one name of the table. Before 18 it cannot; there the order by the id, which is
 * left to be asked for by a range and not by an equality, speaks for the primary key.
 */
function placeOf(sql: Sql | Tx, queue: JobTable, id: Fragment, still: Fragment): Fragment {
  const found = queue.skips_names
    ? sql`j.id = ${id} and ${still} limit 1`
    : sql`j.name = ${queue.name} and j.id >= ${id} and j.id <= ${id} and ${still} order by j.id limit 1`;
  return sql`select j.ctid as place from ${sql(`pgboss.${queue.table}`)} j where ${found}`;
}

/** The same for a fetched job that nobody has fetched since. Its state is asked as text, which no index has. */
function heldPlace(sql: Sql | Tx, queue: JobTable, id: Fragment, retry_count: Fragment): Fragment {
  return sql`${placeOf(sql, queue, id, sql`j.state::text = 'active' and j.retry_count = ${retry_count}`)} for update`;
}

/**
 * Takes fetched jobs away, as a part of a statement that returns their ids. A finished job is of no use to anybody,
 * and a row that is gone costs less than one that is kept as completed for pg-boss to delete later. The source yields
 * id uuid and retry_count integer: a job that another has fetched since stays. Each is looked up by itself and removed
 * by its place.
 */
export function jobRemoval(sql: Sql | Tx, queue: JobTable, source: Fragment): Fragment {
  return sql`
    delete from ${sql(`pgboss.${queue.table}`)} where ctid = any (array(
      select held.place from (${source}) s
      cross join lateral (${heldPlace(sql, queue, sql`s.id`, sql`s.retry_count`)}) held
    )) returning id`;
}

/** Of these ids, those that no job waits or runs under. */
export async function idsWithoutLiveJob(sql: Sql | Tx, queue: JobTable, ids: readonly string[]): Promise<string[]> {
  const rows = await sql<{ id: string }[]>`
    select asked.id from unnest(${ids}::uuid[]) as asked(id)
    left join lateral (${placeOf(sql, queue, sql`asked.id`, sql`j.state < 'completed'`)}) live on true
    where live.place is null`;
  return rows.map((row) => row.id);
}

/**
 * Takes ready jobs, as a part of a statement that returns id, retry_count, data and created_on: what pg-boss's fetch
 * does to the row, in its order. Jobs that were made a while before `made_after` are left out, with the dead entries
 * that stand for them in the index until it is cleaned; null for all. Those that were made at the same time are in the
 * order of start_after, which no other index has, so that no plan can prefer one, nor sort all that is ready.
 *
 * The transaction around it does not wait for the disk: a fetch that a crash of Postgres forgets is made again. So it
 * must hold nothing that may not be forgotten.
 */
export function jobAcquisition(sql: Sql | Tx, queue: JobTable, count: number, made_after: Date | null): Fragment {
  const table = sql(`pgboss.${queue.table}`);
  const among = made_after
    ? sql`and j.priority = 0
        and j.created_on >= ${made_after.toISOString()}::text::timestamptz - make_interval(secs => ${COMMIT_SECONDS})`
    : sql``;
  return sql`
    update ${table} j set state = 'active', started_on = pgboss.job_now(), heartbeat_on = pgboss.job_now(),
      retry_count = case when j.started_on is not null then j.retry_count + 1 else j.retry_count end
    where (select set_config('synchronous_commit', 'off', true)) is not null and j.ctid = any (array(
      select n.place from (
        select j.ctid as place from ${table} j
        where j.name = ${queue.name} and j.state < 'active' and not j.blocked and j.start_after <= pgboss.job_now()
          ${among}
        order by j.priority desc, j.created_on, j.start_after limit ${count}::int
        for update skip locked
      ) n
    )) returning j.id, j.retry_count, j.data, j.created_on`;
}

/**
 * Puts withdrawn jobs back as fetched by whoever runs the statement. The source yields id uuid and data jsonb. A job
 * that came back in another way stays as it is.
 */
export function jobResumption(sql: Sql | Tx, queue: JobTable, source: Fragment): Fragment {
  return sql`
    insert into ${sql(`pgboss.${queue.table}`)} (id, name, data, state, start_after, created_on, started_on, heartbeat_on,
      keep_until, retry_limit, retry_delay, retry_backoff, expire_seconds, deletion_seconds, policy, heartbeat_seconds)
    select s.id, q.name, s.data, 'active', pgboss.job_now(), pgboss.job_now(), pgboss.job_now(), pgboss.job_now(),
      pgboss.job_now() + make_interval(secs => q.retention_seconds), q.retry_limit, q.retry_delay, q.retry_backoff,
      q.expire_seconds, q.deletion_seconds, q.policy, q.heartbeat_seconds
    from (${source}) s cross join pgboss.queue q
    where q.name = ${queue.name}
    on conflict do nothing`;
}

/** Ends a fetched job well. It is kept for a while to be looked at, for a shorter one than its queue keeps the dead. */
export async function jobCompletion(sql: Sql, queue: JobTable, hold: JobHold, kept_seconds: number): Promise<void> {
  await sql`
    update ${sql(`pgboss.${queue.table}`)} set state = 'completed', completed_on = pgboss.job_now(), output = null,
      deletion_seconds = ${kept_seconds}
    where ctid = any (array(${placeOfHold(sql, queue, hold)}))`;
}

/**
 * Puts a fetched job back, due at once. The fetch after it counts as a retry, which fences this one off; so that it
 * spends none, there is one more.
 */
export async function jobReturn(sql: Sql, queue: JobTable, hold: JobHold): Promise<void> {
  await sql`
    update ${sql(`pgboss.${queue.table}`)} set state = 'retry', start_after = pgboss.job_now(),
      retry_limit = retry_limit + 1
    where ctid = any (array(${placeOfHold(sql, queue, hold)}))`;
}

function placeOfHold(sql: Sql, queue: JobTable, { id, retry_count }: JobHold): Fragment {
  return heldPlace(sql, queue, sql`${id}::uuid`, sql`${retry_count}::int`);
}
