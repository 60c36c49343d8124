import { hostname } from 'node:os';
import { connect, type Fragment, isoTimes, type Sql, type Tx } from '@postrider/db';
import { PgBoss } from 'pg-boss';
import type { Catalogue, Data, Job, JobHold, NewJob } from './catalogue.ts';
import {
  idsWithoutLiveJob,
  installJobFunction,
  type JobTable,
  jobAcquisition,
  jobCompletion,
  jobInsertion,
  jobRemoval,
  jobResumption,
  jobReturn,
  readJobTables,
} from './job-rows.ts';
import { startWork, type Work, type WorkOptions } from './work-loop.ts';

const SCHEMA = 'pgboss';
const WAKE_CHANNEL = 'postrider_wake';
// NOTIFY makes committing transactions queue behind each other, so one per five milliseconds is sent, after the
// commit: the first at once.
const WAKE_EVERY_MS = 5;
const STOP_MS = 1500;
// What has ended well is shown for a day; what is dead stays, for somebody has to look at it.
const COMPLETED_SECONDS = 86_400;
const DEAD_SECONDS = 30 * 86_400;

export interface Queue<C extends Catalogue> {
  /** Connects without changing the schema; installQueue does that. */
  start(): Promise<void>;
  stop(): Promise<void>;
  /** Adds jobs inside the caller's transaction. Wake the workers after its commit. */
  send<N extends keyof C & string>(tx: Tx, name: N, jobs: readonly NewJob<Data<C, N>>[]): Promise<void>;
  /** The same as a part of a statement; the source yields id uuid, data jsonb, start_after timestamptz or null. */
  insertion(sql: Sql | Tx, name: keyof C & string, source: Fragment): Fragment;
  /** A part of a statement that takes fetched jobs away, and returns the ids of those that were still held. */
  withdrawal(sql: Sql | Tx, name: keyof C & string, jobs: readonly JobHold[]): Fragment;
  /** The same for jobs that the statement itself knows; the source yields id uuid and retry_count integer. */
  removal(sql: Sql | Tx, name: keyof C & string, source: Fragment): Fragment;
  /** A part of a statement that puts withdrawn jobs back, fetched by the caller for the first time. */
  resumption(sql: Sql | Tx, name: keyof C & string, source: Fragment): Fragment;
  /**
   * A part of a statement that takes ready jobs and returns their rows, for `acquired`. It says that the transaction
   * around it need not wait for the disk, so that must hold nothing else to be kept. With `made_after`, jobs that were
   * made before it may be left out: a retry, or what was scheduled, is found by a look at all.
   */
  acquisition(sql: Sql | Tx, name: keyof C & string, count: number, made_after: Date | null): Fragment;
  /** The jobs of such rows; those that cannot be read are taken out of the way, and said. */
  acquired<N extends keyof C & string, R extends AcquiredRow>(
    name: N,
    rows: readonly R[],
  ): Promise<{ readonly row: R; readonly job: Job<Data<C, N>> }[]>;
  /** Takes ready jobs; the caller settles them with complete, or touches them while they run. */
  fetch<N extends keyof C & string>(name: N, count: number): Promise<Job<Data<C, N>>[]>;
  complete<N extends keyof C & string>(tx: Tx, name: N, jobs: readonly JobHold[]): Promise<void>;
  touch<N extends keyof C & string>(name: N, jobs: readonly JobHold[]): Promise<void>;
  /** Of these job ids, those that no job waits or runs under. */
  withoutLiveJob<N extends keyof C & string>(tx: Tx | Sql, name: N, ids: readonly string[]): Promise<string[]>;
  /** Of these values, those that a field of a waiting or running job holds. Reads all live jobs of the queue. */
  liveAbout<N extends keyof C & string>(
    sql: Sql | Tx,
    name: N,
    field: keyof Data<C, N> & string,
    values: readonly string[],
  ): Promise<Set<string>>;
  /** How many processes work on the same database, as far as their heartbeats tell; at least this one. */
  workerCount(): Promise<number>;
  /** Runs a handler for jobs that need no lanes; a throw is a fault and is retried. */
  work<N extends keyof C & string>(name: N, options: WorkOptions<Data<C, N>>): Work;
  /** Under which id this process is registered among those that work; null where it is not. */
  instanceId(): Promise<string | null>;
  /** The next times that a schedule matches, after one. */
  nextRuns(cron: string, timezone: string, from: Date, count: number): Date[];
  /** Tells workers of every process that jobs are ready now. */
  wake(name: keyof C & string): void;
  /** The same for this process alone, which costs no statement. */
  ring(name: keyof C & string): void;
  onWake(name: keyof C & string, listener: () => void): () => void;
  /** Subscribes to the wakes of other processes. */
  listen(): Promise<void>;
}

/** A job as the database has it. */
export interface AcquiredRow {
  readonly id: string;
  readonly retry_count: number;
  readonly data: unknown;
}

export interface QueueOptions<C extends Catalogue> {
  readonly sql: Sql;
  readonly url: string;
  readonly catalogue: C;
  readonly application_name: string;
  readonly max_connections: number;
  /** False where this process only sends: supervision is for processes that work. */
  readonly supervise: boolean;
  on_error(error: unknown): void;
}

export function createQueue<C extends Catalogue>(options: QueueOptions<C>): Queue<C> {
  const { sql, catalogue, supervise } = options;
  const boss = new PgBoss({
    connectionString: options.url,
    schema: SCHEMA,
    max: options.max_connections,
    application_name: options.application_name,
    migrate: false,
    createSchema: false,
    supervise,
    schedule: supervise,
    registerInstance: supervise,
    superviseIntervalSeconds: 10,
    monitorIntervalSeconds: 10,
    connectionTimeoutMillis: 5000,
    // A query that never returns would wedge pg-boss's one supervision loop. And none of its own waits for the disk:
    // a fetch that a crash of Postgres forgets is made again, and our commits flush all that came before them.
    options: '-c statement_timeout=30000 -c idle_in_transaction_session_timeout=30000 -c synchronous_commit=off',
  });
  boss.on('error', options.on_error);
  const listeners = new Map<string, Set<() => void>>();
  const pending = new Set<string>();
  let wakeTimer: NodeJS.Timeout | null = null;
  let woke_at = Number.NEGATIVE_INFINITY;
  let tables: ReadonlyMap<string, JobTable> = new Map();

  const ring = (name: string) => {
    for (const listener of listeners.get(name) ?? []) listener();
  };
  const tableOf = (name: string): JobTable => {
    const table = tables.get(name);
    if (!table) throw new Error(`the queue ${name} is not installed; run npm run migrate`);
    return table;
  };
  const flushWakes = async () => {
    wakeTimer = null;
    woke_at = performance.now();
    const names = [...pending];
    pending.clear();
    try {
      await sql`select pg_notify(${WAKE_CHANNEL}, name) from unnest(${names}::text[]) as names(name)`;
    } catch (error) {
      // A lost wake costs one poll interval, nothing else.
      options.on_error(error);
    }
  };

  /** Those that can be read; the others are taken out of the way, and said. */
  const readable = async <N extends keyof C & string, R extends AcquiredRow>(
    name: N,
    rows: readonly R[],
  ): Promise<{ row: R; job: Job<Data<C, N>> }[]> => {
    const payload = payloadOf(catalogue, name);
    const strange: string[] = [];
    const found = rows.flatMap((row) => {
      const parsed = payload.safeParse(row.data);
      if (!parsed.success) {
        strange.push(row.id);
        return [];
      }
      // payload is the catalogue's schema for this very name.
      const data = parsed.data as Data<C, N>;
      return [{ row, job: { id: row.id, retry_count: row.retry_count, data } }];
    });
    if (strange.length > 0) {
      // Thrown, it would take its whole batch along, at every retry.
      await boss.cancel(name, strange);
      options.on_error(
        new Error(`${name}: jobs with a payload that does not fit were canceled: ${strange.join(', ')}`),
      );
    }
    return found;
  };

  return {
    async start() {
      await boss.start();
      tables = await readJobTables(sql);
    },
    async stop() {
      if (wakeTimer) clearTimeout(wakeTimer);
      await boss.stop({ graceful: true, timeout: STOP_MS });
    },
    async send(tx, name, jobs) {
      if (jobs.length === 0) return;
      const source = tx`
        select coalesce(id, gen_random_uuid()) as id, data::jsonb as data, start_after
        from unnest(
          ${jobs.map((job) => job.id ?? null)}::uuid[],
          ${jobs.map((job) => JSON.stringify(job.data))}::text[],
          ${isoTimes(jobs.map((job) => job.start_after ?? null))}::timestamptz[]
        ) as a (id, data, start_after)`;
      await jobInsertion(tx, tableOf(name), source);
    },
    insertion(sql, name, source) {
      return jobInsertion(sql, tableOf(name), source);
    },
    withdrawal(sql, name, jobs) {
      const source = sql`
        select * from unnest(
          ${jobs.map((job) => job.id)}::uuid[],
          ${jobs.map((job) => job.retry_count)}::int[]
        ) as a (id, retry_count)`;
      return jobRemoval(sql, tableOf(name), source);
    },
    removal(sql, name, source) {
      return jobRemoval(sql, tableOf(name), source);
    },
    resumption(sql, name, source) {
      return jobResumption(sql, tableOf(name), source);
    },
    acquisition(sql, name, count, made_after) {
      return jobAcquisition(sql, tableOf(name), count, made_after);
    },
    acquired: readable,
    async fetch(name, count) {
      const rows = await sql<(AcquiredRow & { created_on: Date })[]>`
        with taken as (${jobAcquisition(sql, tableOf(name), count, null)})
        select * from taken order by created_on`;
      return (await readable(name, rows)).map(({ job }) => job);
    },
    async complete(tx, name, jobs) {
      if (jobs.length === 0) return;
      const source = tx`
        select * from unnest(
          ${jobs.map((job) => job.id)}::uuid[],
          ${jobs.map((job) => job.retry_count)}::int[]
        ) as a (id, retry_count)`;
      await jobRemoval(tx, tableOf(name), source);
    },
    async touch(name, jobs) {
      if (jobs.length > 0) await boss.touch(name, jobs.map(attemptOf));
    },
    async withoutLiveJob(tx, name, ids) {
      return idsWithoutLiveJob(tx, tableOf(name), ids);
    },
    async liveAbout(sql, name, field, values) {
      const rows = await sql<{ value: string }[]>`
        select distinct j.data ->> ${field} as value from ${sql(`${SCHEMA}.${tableOf(name).table}`)} j
        where j.name = ${name} and j.state < 'completed' and j.data ->> ${field} = any (${values}::text[])`;
      return new Set(rows.map((row) => row.value));
    },
    async workerCount() {
      const instances = await boss.getInstances();
      return Math.max(1, instances.filter((instance) => instance.live).length);
    },
    work(name, options_of_work) {
      const work = startWork(options_of_work, {
        async fetch(count) {
          const jobs = await boss.fetch<object>(name, { batchSize: count, includeMetadata: true });
          const rows = jobs.map((row) => ({ ...row, retry_count: row.retryCount }));
          return (await readable(name, rows)).map(({ row, job }) => {
            const could_run = Math.max(row.createdOn.getTime(), row.startAfter.getTime());
            return {
              job,
              started_at: row.startedOn,
              wait_ms: Math.max(0, row.startedOn.getTime() - could_run),
            };
          });
        },
        touch: async (holds) => void (await boss.touch(name, holds.map(attemptOf))),
        complete: (hold) => jobCompletion(sql, tableOf(name), hold, COMPLETED_SECONDS),
        fail: async (hold, error) => void (await boss.fail(name, attemptOf(hold), error)),
        handBack: (hold) => jobReturn(sql, tableOf(name), hold),
        onError: options.on_error,
      });
      const silence = this.onWake(name, () => work.poll());
      return {
        ...work,
        async stop() {
          silence();
          await work.stop();
        },
      };
    },
    async instanceId() {
      if (!supervise) return null;
      // pg-boss keeps its id to itself. A process has one queue, so its latest row is this one's.
      const [row] = await sql<{ id: string }[]>`
        select id from pgboss.instance where host = ${hostname()} and pid = ${process.pid} and stopped_on is null
        order by started_on desc limit 1`;
      return row?.id ?? null;
    },
    nextRuns(cron, timezone, from, count) {
      return boss.previewSchedule(cron, { tz: timezone, from, count });
    },
    wake(name) {
      ring(name);
      pending.add(name);
      if (wakeTimer) return;
      const wait_ms = woke_at + WAKE_EVERY_MS - performance.now();
      if (wait_ms <= 0) void flushWakes();
      else wakeTimer = setTimeout(flushWakes, wait_ms);
    },
    ring,
    onWake(name, listener) {
      const set = listeners.get(name) ?? new Set();
      listeners.set(name, set.add(listener));
      return () => set.delete(listener);
    },
    async listen() {
      await sql.listen(WAKE_CHANNEL, ring);
    },
  };
}

/** Creates or upgrades pg-boss's schema, the catalogue's queues and its schedules. Safe to repeat. */
export async function installQueue(url: string, catalogue: Catalogue): Promise<void> {
  const boss = new PgBoss({
    connectionString: url,
    schema: SCHEMA,
    max: 2,
    supervise: false,
    schedule: false,
    registerInstance: false,
  });
  const faults: unknown[] = [];
  boss.on('error', (error) => faults.push(error));
  await boss.start();
  try {
    for (const [name, { options }] of Object.entries(catalogue)) {
      const settings = {
        retryLimit: options.retry_limit,
        retryDelay: options.retry_delay_seconds,
        expireInSeconds: options.expire_seconds,
        // Longer than the furthest scheduled_at and the last retry; pg-boss deletes waiting jobs after it.
        retentionSeconds: 60 * 86_400,
        deleteAfterSeconds: options.dead_seconds ?? DEAD_SECONDS,
        ...(options.heartbeat_seconds && { heartbeatSeconds: options.heartbeat_seconds }),
      };
      if (await boss.getQueue(name)) await boss.updateQueue(name, settings);
      else await boss.createQueue(name, { ...settings, partition: true });
      if (options.cron) await boss.schedule(name, options.cron, {}, { tz: 'UTC' });
    }
    await finishQueues(url, catalogue);
  } finally {
    await boss.stop({ graceful: false });
  }
  if (faults.length > 0) throw faults[0];
}

async function finishQueues(url: string, catalogue: Catalogue): Promise<void> {
  const sql = connect(url, { max: 1, application_name: 'postrider-queue' });
  try {
    await dropQueueChecks(sql, Object.keys(catalogue));
    for (const [name, { options }] of Object.entries(catalogue)) {
      if (options.sql_function) await installJobFunction(sql, name, options.sql_function);
    }
  } finally {
    await sql.end();
  }
}

/**
 * pg-boss has every new job look up its queue, for a foreign key: a query for each row, and a tenth of what an
 * accept costs the database. Our statements take the queue's row itself to insert a job, and no queue is deleted.
 */
async function dropQueueChecks(sql: Sql, names: readonly string[]): Promise<void> {
  const checks = await sql<{ table: string; name: string }[]>`
    select q.table_name as table, c.conname as name from pgboss.queue q
    join pg_constraint c on c.conrelid = format('pgboss.%I', q.table_name)::regclass and c.contype = 'f'
    where q.partition and q.name = any (${names}::text[]) and c.confrelid = 'pgboss.queue'::regclass`;
  for (const { table, name } of checks) {
    await sql`alter table ${sql(`pgboss.${table}`)} drop constraint if exists ${sql(name)}`;
  }
}

/** Queues of the catalogue that installQueue has not made yet. */
export async function missingQueues(sql: Sql, catalogue: Catalogue): Promise<string[]> {
  const [schema] = await sql<{ there: boolean }[]>`select to_regclass('pgboss.queue') is not null as there`;
  const installed = schema?.there ? await sql<{ name: string }[]>`select name from pgboss.queue` : [];
  return Object.keys(catalogue).filter((name) => !installed.some((queue) => queue.name === name));
}

function attemptOf(job: JobHold): { id: string; retryCount: number } {
  return { id: job.id, retryCount: job.retry_count };
}

function payloadOf(catalogue: Catalogue, name: string) {
  const entry = catalogue[name];
  if (!entry) throw new Error(`no job is called ${name}`);
  return entry.payload;
}
