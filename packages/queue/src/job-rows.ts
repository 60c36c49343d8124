import type { Fragment, Sql, Tx } from '@postrider/db';
import type { JobHold } from './catalogue.ts';

// pg-boss's own insert takes one job at a time or a JSON text; a batch of columns inside our own statement
// is a third cheaper and one round trip less. The price: these rows must be what the pinned pg-boss would
// write. readJobTables refuses a schema that differs, and a test compares a row with pg-boss's own.

/** What a queue's rows have in common, as installQueue has stored it. */
export interface JobTable {
  readonly name: string;
  readonly table: string;
}

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
  const rows = await sql<JobTable[]>`select name, table_name as table from pgboss.queue`;
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
 * Takes fetched jobs away, as a part of a statement that returns their ids. A finished job is of no use to anybody,
 * and a row that is gone costs less than one that is kept as completed for pg-boss to delete later. The source yields
 * id uuid and retry_count integer: a job that another has fetched since stays.
 *
 * Every index of pg-boss begins with the name, and a plan made for an empty table may read all active jobs for each
 * one to remove. So each is looked up by itself, its state as text that no index has, and removed by its place.
 */
export function jobRemoval(sql: Sql | Tx, queue: JobTable, source: Fragment): Fragment {
  const table = sql(`pgboss.${queue.table}`);
  return sql`
    delete from ${table} where ctid = any (array(
      select held.place from (${source}) s
      cross join lateral (
        select j.ctid as place from ${table} j
        where j.name = ${queue.name} and j.id = s.id and j.state::text = 'active' and j.retry_count = s.retry_count
        offset 0 for update
      ) held
    )) returning id`;
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
    where name = ${queue.name} and id = ${hold.id} and state = 'active' and retry_count = ${hold.retry_count}`;
}

/**
 * Puts a fetched job back, due at once. The fetch after it counts as a retry, which fences this one off; so that it
 * spends none, there is one more.
 */
export async function jobReturn(sql: Sql, queue: JobTable, hold: JobHold): Promise<void> {
  await sql`
    update ${sql(`pgboss.${queue.table}`)} set state = 'retry', start_after = pgboss.job_now(),
      retry_limit = retry_limit + 1
    where name = ${queue.name} and id = ${hold.id} and state = 'active' and retry_count = ${hold.retry_count}`;
}
