import { fence, type Sql, type Tx } from '@postrider/db';
import { gaugesOf, type InstanceRow, instancesOf } from '@postrider/queue';
import type { DeliveryState } from '../delivery/index.ts';
import { idIn } from '../paging/keyset-store.ts';
import type { Priority } from '../priorities/index.ts';
import type { JobName } from '../process/jobs.ts';
import { openInSql } from '../states/index.ts';
import { isFailing, isWebhookHeld } from '../webhooks/index.ts';
import { SLOTS } from './run-times.ts';

export interface MeasureRow {
  readonly queue: string;
  readonly ready: number;
  readonly deferred: number;
  readonly active: number;
  readonly dead: number;
  readonly parked: number;
  readonly oldest_ready_seconds: number | null;
  readonly measured_at: Date;
}

// The maximum counted per state; above it, the count of pg-boss's monitor is used.
const MAX_COUNTED = 10_000;
// Above this, the planner's estimate is used for parked messages.
const PARKED_COUNTED = 10_000;
const MEASURE_LOCK = 712_448_044;

/**
 * Measures and stores queue depths, for reads and history. Runs in one process at a time, and not while the last
 * measurement is fresh.
 */
export async function measureQueues(sql: Sql, queues: readonly JobName[], fresh_seconds: number): Promise<boolean> {
  return sql.begin(async (tx) => {
    const [turn] = await tx<{ mine: boolean }[]>`
      select pg_try_advisory_xact_lock(${MEASURE_LOCK}) and not exists (
        select from queue_measures where measured_at > clock_now() - make_interval(secs => ${fresh_seconds})
          and measured_at <= clock_now()
      ) as mine`;
    if (!turn?.mine) return false;
    // Does not wait for the disk: values lost in a crash are simply measured again.
    await tx`set local synchronous_commit = off`;
    const owed = await countOwed(tx);
    const gauges = (await gaugesOf(tx, queues, MAX_COUNTED)).map((row) =>
      // A webhook.deliver job only wakes a worker: the backlog is the deliveries themselves.
      row.queue === ('webhook.deliver' satisfies JobName) ? { ...row, ...owed } : row,
    );
    const parked = await countParked(tx);
    await tx`
      with found as materialized (
        select a.*, clock_now() as measured_at from unnest(
          ${gauges.map(({ queue }) => queue)}::text[],
          ${gauges.map(({ ready }) => ready)}::int[],
          ${gauges.map(({ deferred }) => deferred)}::int[],
          ${gauges.map(({ active }) => active)}::int[],
          ${gauges.map(({ dead }) => dead)}::int[],
          ${gauges.map(({ queue }) => (queue === ('delivery.attempt' satisfies JobName) ? parked : 0))}::int[],
          ${gauges.map(({ oldest_ready_seconds }) => oldest_ready_seconds)}::float8[]
        ) as a (queue, ready, deferred, active, dead, parked, oldest_ready_seconds)
      ),
      latest as (
        insert into queue_measures (queue, ready, deferred, active, dead, parked, oldest_ready_seconds, measured_at)
        select queue, ready, deferred, active, dead, parked, oldest_ready_seconds, measured_at from found
        on conflict (queue) do update set ready = excluded.ready, deferred = excluded.deferred, active = excluded.active,
          dead = excluded.dead, parked = excluded.parked, oldest_ready_seconds = excluded.oldest_ready_seconds,
          measured_at = excluded.measured_at
      )
      insert into queue_minutes (queue, minute, ready, deferred, active, dead, parked, oldest_ready_seconds, measured_at)
      select queue, date_trunc('minute', measured_at), ready, deferred, active, dead, parked, oldest_ready_seconds, measured_at
      from found order by queue
      on conflict (queue, minute) do update set ready = excluded.ready, deferred = excluded.deferred,
        active = excluded.active, dead = excluded.dead, parked = excluded.parked,
        oldest_ready_seconds = excluded.oldest_ready_seconds, measured_at = excluded.measured_at`;
    return true;
  });
}

interface DueCounts {
  readonly ready: number;
  readonly deferred: number;
  readonly oldest_ready_seconds: number | null;
}

/**
 * Counts pending webhook deliveries, due or later. Those of an endpoint that is held, paused or failing wait for it, not
 * for a worker, so they count as deferred. Above a limit, the planner's estimate is split in the proportions of the
 * sample.
 */
async function countOwed(sql: Tx): Promise<DueCounts> {
  const [row] = await sql<{ seen: number; due: number; oldest: number | null; total: number }[]>`
    select coalesce(sum(s.count), 0)::int as seen, coalesce(sum(s.due) filter (where w.may_post), 0)::int as due,
      extract(epoch from clock_now() - min(s.oldest) filter (where w.may_post))::float8 as oldest, (
        select sum(greatest(c.reltuples, 0)) from pg_inherits i join pg_class c on c.oid = i.inhrelid
        where i.inhparent = 'webhook_deliveries_open'::regclass
      )::int as total
    from (
      select webhook_id, count(*) as count, count(*) filter (where next_attempt_at <= clock_now()) as due,
        min(next_attempt_at) as oldest
      from (select webhook_id, next_attempt_at from webhook_deliveries where state = 'pending' limit ${MAX_COUNTED}) p
      group by webhook_id
    ) s
    join lateral (
      select w.status = 'enabled' and w.paused_until is null and not ${isWebhookHeld(sql, sql`w.id`)}
        and not coalesce(${isFailing(sql, sql`w.failing_since`)}, false) as may_post
      from webhooks w where w.id = s.webhook_id
    ) w on true`;
  const { seen = 0, due = 0, oldest = null, total = 0 } = row ?? {};
  const all = seen < MAX_COUNTED ? seen : Math.max(seen, total);
  const ready = seen === 0 ? 0 : Math.round((due / seen) * all);
  return { ready, deferred: all - ready, oldest_ready_seconds: oldest !== null && oldest > 0 ? oldest : null };
}

async function countParked(sql: Tx): Promise<number> {
  const [row] = await sql<{ count: number }[]>`
    select case when c.count < ${PARKED_COUNTED}::int then c.count
      else greatest(c.count, (select reltuples from pg_class where oid = 'parked_deliveries'::regclass)) end::int as count
    from (select count(*) as count from (select from parked_deliveries limit ${PARKED_COUNTED}) parked) c`;
  return row?.count ?? 0;
}

/** A worker's report for a queue: jobs finished since its last report, and jobs it is running. */
export interface WorkNote {
  readonly queue: string;
  readonly finished: number;
  readonly failed: number;
  readonly wait_bins: readonly number[];
  readonly run_bins: readonly number[];
  readonly active: number;
  readonly concurrency: number;
  readonly job_ids: readonly string[];
}

/** Adds a worker's report to the current minute, in one statement for all its queues. */
export async function addWork(sql: Sql, worker_id: string | null, notes: readonly WorkNote[]): Promise<void> {
  const done = notes.filter(({ finished, failed }) => finished + failed > 0).sort(byQueue);
  await sql.begin(async (tx) => {
    await tx`set local synchronous_commit = off`;
    await tx`
      insert into queue_minutes as m (queue, minute, finished, failed, wait_bins, run_bins)
      select queue, date_trunc('minute', clock_now()), finished, failed, wait_bins::int[], run_bins::int[] from unnest(
        ${done.map(({ queue }) => queue)}::text[],
        ${done.map(({ finished }) => finished)}::int[],
        ${done.map(({ failed }) => failed)}::int[],
        ${done.map(({ wait_bins }) => arrayText(wait_bins))}::text[],
        ${done.map(({ run_bins }) => arrayText(run_bins))}::text[]
      ) as a (queue, finished, failed, wait_bins, run_bins)
      on conflict (queue, minute) do update set finished = m.finished + excluded.finished,
        failed = m.failed + excluded.failed, wait_bins = sum_bins(m.wait_bins, excluded.wait_bins),
        run_bins = sum_bins(m.run_bins, excluded.run_bins)`;
    if (worker_id === null) return;
    await tx`
      insert into worker_queues (worker_id, queue, active, concurrency, job_ids, noted_at)
      select ${worker_id}::uuid, queue, active, concurrency, job_ids::uuid[], clock_now() from unnest(
        ${notes.map(({ queue }) => queue)}::text[],
        ${notes.map(({ active }) => active)}::int[],
        ${notes.map(({ concurrency }) => concurrency)}::int[],
        ${notes.map(({ job_ids }) => arrayText(job_ids))}::text[]
      ) as a (queue, active, concurrency, job_ids)
      on conflict (worker_id, queue) do update set active = excluded.active, concurrency = excluded.concurrency,
        job_ids = excluded.job_ids, noted_at = excluded.noted_at`;
  });
}

function byQueue(left: WorkNote, right: WorkNote): number {
  return left.queue < right.queue ? -1 : 1;
}

/**
 * Formats an array as text, because the rows of a nested array must have equal lengths; numbers and UUIDs need no
 * quotes.
 */
function arrayText(values: readonly (number | string)[]): string {
  return `{${values.join(',')}}`;
}

export async function addWorker(sql: Sql, id: string, version: string): Promise<void> {
  await sql`
    insert into workers (id, version, started_at) values (${id}, ${version}, clock_now())
    on conflict (id) do nothing`;
}

export async function dropWorkerQueues(sql: Sql, worker_id: string): Promise<void> {
  await sql`delete from worker_queues where worker_id = ${worker_id}`;
}

export async function measuresOf(sql: Sql): Promise<Map<string, MeasureRow>> {
  const rows = await sql<MeasureRow[]>`
    select queue, ready, deferred, active, dead, parked, oldest_ready_seconds, measured_at from queue_measures`;
  return new Map(rows.map((row) => [row.queue, row]));
}

export interface MinuteRow {
  readonly queue: string;
  readonly minute: Date;
  readonly finished: number;
  readonly failed: number;
  readonly wait_bins: number[];
  readonly run_bins: number[];
  readonly ready: number | null;
  readonly deferred: number | null;
  readonly active: number | null;
  readonly dead: number | null;
  readonly parked: number | null;
  readonly oldest_ready_seconds: number | null;
  readonly measured_at: Date | null;
}

/** Returns the latest minutes of queues, oldest first, and the database's time. */
export async function minutesOf(
  sql: Sql,
  queues: readonly string[],
  minutes: number,
): Promise<{ readonly rows: MinuteRow[]; readonly now: Date }> {
  const [[clock], rows] = await Promise.all([
    sql<{ now: Date }[]>`select clock_now() as now`,
    sql<MinuteRow[]>`
      select queue, minute, finished, failed, wait_bins, run_bins, ready, deferred, active, dead, parked,
        oldest_ready_seconds, measured_at
      from queue_minutes
      where queue = any (${[...queues]}::text[])
        and minute > date_trunc('minute', clock_now()) - make_interval(mins => ${minutes}) and minute <= clock_now()
      order by queue, minute`,
  ]);
  return { rows, now: clock?.now ?? new Date(0) };
}

/** Counts the failed runs of queues in the latest minutes. Served by the primary key. */
export async function failuresOf(sql: Sql, queues: readonly string[], minutes: number): Promise<Map<string, number>> {
  const rows = await sql<{ queue: string; failed: number }[]>`
    select queue, sum(failed)::int as failed from queue_minutes
    where queue = any (${[...queues]}::text[])
      and minute > date_trunc('minute', clock_now()) - make_interval(mins => ${minutes}) and minute <= clock_now()
    group by queue`;
  return new Map(rows.map((row) => [row.queue, row.failed]));
}

export interface HistoryRow {
  readonly at: Date;
  readonly ready: number;
  readonly deferred: number;
  readonly active: number;
  readonly dead: number;
  readonly parked: number;
  readonly oldest_ready_seconds: number | null;
  readonly finished: number;
  readonly failed: number;
  readonly wait_bins: number[];
}

/**
 * Aggregates a range into points of `minutes` each: the maximum depth and the sum of finished jobs. Served by the
 * primary key.
 */
export async function historyOf(
  sql: Sql,
  queue: string,
  range: { readonly since: Date; readonly until: Date; readonly minutes: number },
): Promise<HistoryRow[]> {
  // Slot by slot, because unnesting every array would produce 48 rows per minute.
  const sums = Array.from({ length: SLOTS }, (_, slot) => sql`coalesce(sum(wait_bins[${slot + 1}::int]), 0)::int`);
  return sql<HistoryRow[]>`
    select date_bin(make_interval(mins => ${range.minutes}), minute, ${range.since}) as at,
      coalesce(max(ready), 0) as ready, coalesce(max(deferred), 0) as deferred, coalesce(max(active), 0) as active,
      coalesce(max(dead), 0) as dead, coalesce(max(parked), 0) as parked,
      max(oldest_ready_seconds) as oldest_ready_seconds, sum(finished)::int as finished, sum(failed)::int as failed,
      array[${sums.reduce((list, sum) => sql`${list}, ${sum}`)}] as wait_bins
    from queue_minutes
    where queue = ${queue} and minute >= date_trunc('minute', ${range.since}::timestamptz) and minute < ${range.until}
    group by 1 order by 1`;
}

export async function concurrencies(sql: Sql | Tx): Promise<Map<string, number>> {
  const rows = await sql<{ queue: string; concurrency: number }[]>`select queue, concurrency from queue_settings`;
  return new Map(rows.map((row) => [row.queue, row.concurrency]));
}

/** Sets the concurrency; returns the previous value. */
export async function putConcurrency(tx: Tx, queue: string, concurrency: number): Promise<number | null> {
  const [before] = await tx<{ concurrency: number }[]>`
    select concurrency from queue_settings where queue = ${queue} for update`;
  await tx`
    insert into queue_settings (queue, concurrency, changed_at) values (${queue}, ${concurrency}, clock_now())
    on conflict (queue) do update set concurrency = excluded.concurrency, changed_at = excluded.changed_at`;
  return before?.concurrency ?? null;
}

export interface WorkerQueueRow {
  readonly worker_id: string;
  readonly queue: string;
  readonly active: number;
  readonly concurrency: number;
}

export interface WorkerRow extends InstanceRow {
  readonly version: string | null;
  readonly queues: readonly WorkerQueueRow[];
}

/** Returns running workers and those that stopped recently. */
export async function workerRows(sql: Sql, gone_seconds: number): Promise<WorkerRow[]> {
  const instances = await instancesOf(sql, gone_seconds);
  const ids = instances.map(({ id }) => id);
  const [versions, queues] = await Promise.all([
    sql<{ id: string; version: string }[]>`select id, version from workers where id = any (${ids}::uuid[])`,
    sql<WorkerQueueRow[]>`
      select worker_id, queue, active, concurrency from worker_queues
      where worker_id = any (${ids}::uuid[]) order by queue`,
  ]);
  const versionOf = new Map(versions.map(({ id, version }) => [id, version]));
  const queuesOf = Map.groupBy(queues, ({ worker_id }) => worker_id);
  return instances.map((instance) => ({
    ...instance,
    version: versionOf.get(instance.id) ?? null,
    queues: queuesOf.get(instance.id) ?? [],
  }));
}

/** Returns the worker of each active job that a worker has reported within the last minute; other jobs are absent. */
export async function holdersOf(sql: Sql, job_ids: readonly string[]): Promise<Map<string, string>> {
  if (job_ids.length === 0) return new Map();
  const rows = await sql<{ job_id: string; worker_id: string }[]>`
    select held.job_id, w.worker_id from worker_queues w
    cross join lateral unnest(w.job_ids) as held (job_id)
    where held.job_id = any (${[...job_ids]}::uuid[]) and w.noted_at > clock_now() - interval '1 minute'`;
  return new Map(rows.map((row) => [row.job_id, row.worker_id]));
}

export interface NewJobAttempt {
  readonly job_id: string;
  readonly number: number;
  readonly queue: string;
  readonly started_at: Date;
  readonly duration_ms: number;
  readonly error: { readonly name: string; readonly message: string } | null;
  readonly worker_id: string | null;
}

export async function addJobAttempt(sql: Sql, attempt: NewJobAttempt): Promise<void> {
  await sql`
    insert into job_attempts (job_id, number, queue, started_at, duration_ms, error_name, error_message, worker_id)
    values (${attempt.job_id}, ${attempt.number}, ${attempt.queue}, ${attempt.started_at}, ${attempt.duration_ms},
      ${attempt.error?.name ?? null}, ${attempt.error?.message ?? null}, ${attempt.worker_id})
    on conflict do nothing`;
}

export interface AttemptRow {
  readonly number: number;
  readonly started_at: Date;
  readonly duration_ms: number;
  readonly error_name: string | null;
  readonly error_message: string | null;
  readonly worker_id: string | null;
}

/** Returns the runs of a handled job, latest first. */
export async function jobAttemptsOf(sql: Sql, job_id: string, max: number): Promise<AttemptRow[]> {
  return sql<AttemptRow[]>`
    select number, started_at, duration_ms, error_name, error_message, worker_id from job_attempts
    where job_id = ${job_id} order by number desc limit ${max}`;
}

/**
 * Returns the delivery attempts for a recipient, latest first. Served by the primary key, which starts with the
 * message.
 */
export async function deliveryAttemptsOf(
  sql: Sql,
  key: { readonly message_id: string; readonly recipient_id: string },
  max: number,
): Promise<AttemptRow[]> {
  return sql<AttemptRow[]>`
    select number, started_at, extract(epoch from finished_at - started_at)::float8 * 1000 as duration_ms,
      case outcome when 'accepted' then null else outcome end as error_name,
      case outcome when 'accepted' then null else coalesce(reply_text, error, outcome) end as error_message,
      null::uuid as worker_id
    from attempts where message_id = ${key.message_id} and recipient_id = ${key.recipient_id}
    order by number desc limit ${max}`;
}

export interface ParkedRow {
  readonly job_id: string;
  readonly lane: string;
  readonly workspace_id: string;
  readonly message_id: string;
  readonly recipient_id: string;
  readonly priority: Priority;
  readonly due_at: Date;
}

/** Filters to parked jobs, each looked up separately. */
export async function parkedAmong(sql: Sql, job_ids: readonly string[]): Promise<ParkedRow[]> {
  if (job_ids.length === 0) return [];
  return sql<ParkedRow[]>`
    select p.* from unnest(${[...job_ids]}::uuid[]) as a (job_id)
    cross join lateral (
      select job_id, lane, priority, workspace_id, message_id, recipient_id, due_at from parked_deliveries x
      where x.job_id = a.job_id ${fence}
    ) p`;
}

/** Returns the current and former jobs of a message's recipients. */
export async function readMessageJobs(sql: Sql, message_id: string): Promise<string[]> {
  const rows = await sql<{ job_id: string }[]>`
    select job_id from recipients where message_id = ${message_id} and job_id is not null`;
  return rows.map((row) => row.job_id);
}

/**
 * Makes a deferred recipient due immediately, if it is unclaimed and waiting for this job. Locks the recipient before
 * its job, as settling an attempt does.
 */
export async function pullForward(
  tx: Tx,
  job_id: string,
  key: { readonly workspace_id: string; readonly message_id: string; readonly recipient_id: string },
): Promise<boolean> {
  const rows = await tx`
    update recipients set due_at = clock_now()
    where workspace_id = ${key.workspace_id} and message_id = ${key.message_id} and id = ${key.recipient_id}
      and job_id = ${job_id} and state = 'deferred' and due_at > clock_now()
      and (lease is null or lease_until < clock_now())
    returning id`;
  return rows.length > 0;
}

export interface JobMail {
  readonly state: DeliveryState;
  /** The recipient's current or last job. */
  readonly job_id: string | null;
  readonly due_at: Date;
  /** Currently claimed by a worker. */
  readonly held: boolean;
}

/** Locks a job's recipient before the job itself, as every transaction does. */
export async function lockJobMail(
  tx: Tx,
  key: { readonly workspace_id: string; readonly message_id: string; readonly recipient_id: string },
): Promise<JobMail | null> {
  const [row] = await tx<JobMail[]>`
    select state, job_id, due_at, lease is not null and lease_until >= clock_now() as held from recipients
    where workspace_id = ${key.workspace_id} and message_id = ${key.message_id} and id = ${key.recipient_id}
    for no key update`;
  return row ?? null;
}

/** Deletes old minutes and runs, and reports of workers that stopped long ago. */
export async function forgetWork(sql: Sql | Tx, days: number): Promise<void> {
  await sql`delete from queue_minutes where minute < clock_now() - make_interval(days => ${days})`;
  await sql`delete from job_attempts where started_at < clock_now() - make_interval(days => ${days})`;
  await sql`delete from worker_queues where noted_at < clock_now() - interval '1 day'`;
  await sql`delete from workers w where started_at < clock_now() - make_interval(days => ${days})
    and not exists (select from worker_queues q where q.worker_id = w.id)`;
}

/** Returns the jobs of messages' open recipients. Served by the primary key. */
export async function readJobsByMessage(
  sql: Sql,
  workspace_id: string,
  message_ids: readonly string[],
): Promise<{ readonly message_id: string; readonly recipient_id: string; readonly job_id: string }[]> {
  return sql<{ message_id: string; recipient_id: string; job_id: string }[]>`
    select r.message_id, r.id as recipient_id, r.job_id from recipients r
    where r.workspace_id = ${workspace_id} and ${idIn(sql, sql`r.message_id`, message_ids)}
      and r.state in (${openInSql}) and r.job_id is not null
    order by r.message_id, r.kind, r.id`;
}
