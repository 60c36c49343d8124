import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import { type Fragment, idKindOf, idOfUuid, isoTimes, type Sql, type Tx, uuidOfId } from '@postrider/db';
import { PgBoss } from 'pg-boss';
import { z } from 'zod';
import type { Catalogue, Data, Job, JobHold, NewJob } from './catalogue.ts';
import { bossConnection } from './connection.ts';
import { SCHEMA } from './install.ts';
import {
  type FreedRow,
  freeJobs,
  freeUnknownJobs,
  holdJobs,
  idsWithoutLiveJob,
  type JobRequest,
  type JobTable,
  jobAcquisition,
  jobCompletion,
  jobInsertion,
  jobRemoval,
  jobResumption,
  jobReturn,
  readJobTables,
  touchJobs,
} from './job-rows.ts';
import { Wakes, wakeOnCommit } from './wakes.ts';
import { startWork, type Work, type WorkOptions, type WorkSource } from './work-loop.ts';

const STOP_MS = 1500;
// Completed jobs are retained for a day for inspection.
const COMPLETED_SECONDS = 86_400;

export interface Queue<C extends Catalogue> {
  /** Identifies this process on the jobs that it holds. */
  readonly holder: string;
  /** Connects without changing the schema, which installQueue does. */
  start(): Promise<void>;
  stop(): Promise<void>;
  /** Enqueues jobs in the caller's transaction. The caller must wake the workers after the commit. */
  send<N extends keyof C & string>(tx: Tx, name: N, jobs: readonly NewJob<Data<C, N>>[]): Promise<void>;
  /**
   * Inserts jobs, as a fragment. The source yields id uuid, data jsonb, start_after timestamptz or null, and priority
   * int.
   */
  insertion(sql: Sql | Tx, name: keyof C & string, source: Fragment): Fragment;
  /** Returns a fragment that deletes fetched jobs and returns the ids of the jobs that the caller still held. */
  withdrawal(sql: Sql | Tx, name: keyof C & string, jobs: readonly JobHold[]): Fragment;
  /**
   * Returns a fragment like `withdrawal`, for jobs from a subquery. The source yields id uuid and retry_count integer.
   */
  removal(sql: Sql | Tx, name: keyof C & string, source: Fragment): Fragment;
  /**
   * Returns a fragment that restores withdrawn jobs as if fetched for the first time. The source yields id, data and
   * priority.
   */
  resumption(sql: Sql | Tx, name: keyof C & string, source: Fragment): Fragment;
  /**
   * Returns a fragment that fetches ready jobs and returns their rows, for `acquired`. The fragment turns
   * synchronous_commit off, so the transaction must not write anything else that has to be durable. With
   * `created_after`, older jobs may be skipped: a poll without `created_after` finds retries and scheduled jobs. Only
   * the named priorities of the queue's jobs are fetched.
   */
  acquisition(sql: Sql | Tx, name: keyof C & string, requests: readonly JobRequest[]): Fragment;
  /** Converts rows of `acquisition` to jobs. A job whose payload does not parse is canceled and reported. */
  acquired<N extends keyof C & string, R extends AcquiredRow>(
    name: N,
    rows: readonly R[],
  ): Promise<{ readonly row: R; readonly job: Job<Data<C, N>> }[]>;
  /** Fetches ready jobs. The caller settles them with complete, and renews their heartbeats while they run. */
  fetch<N extends keyof C & string>(name: N, count: number): Promise<Job<Data<C, N>>[]>;
  complete<N extends keyof C & string>(tx: Tx, name: N, jobs: readonly JobHold[]): Promise<void>;
  touch<N extends keyof C & string>(name: N, jobs: readonly JobHold[]): Promise<void>;
  /**
   * Frees the jobs of a dead process, makes them due immediately, and returns them. If a time is given, frees only jobs
   * whose last heartbeat is not later.
   */
  free<N extends keyof C & string>(tx: Tx, name: N, holder: string, seen_until?: Date): Promise<FreedJob<Data<C, N>>[]>;
  /**
   * Frees jobs that this process has held for at least this many seconds without knowing it, and returns them. `known`
   * is called once the database has returned its time.
   */
  freeUnknown<N extends keyof C & string>(
    tx: Tx,
    name: N,
    known: () => readonly string[],
    seconds: number,
  ): Promise<FreedJob<Data<C, N>>[]>;
  /** Returns the given job ids that have no waiting or running job. */
  withoutLiveJob<N extends keyof C & string>(tx: Tx | Sql, name: N, ids: readonly string[]): Promise<string[]>;
  /** Returns the given values that occur in a field of a waiting or running job. Reads all live jobs of the queue. */
  liveAbout<N extends keyof C & string>(
    sql: Sql | Tx,
    name: N,
    field: keyof Data<C, N> & string,
    values: readonly string[],
  ): Promise<Set<string>>;
  /** Returns the number of processes with a live heartbeat on this database; at least 1. */
  workerCount(): Promise<number>;
  /** Runs a handler for jobs that need no lanes. A job whose handler throws is retried. */
  work<N extends keyof C & string>(name: N, options: WorkOptions<Data<C, N>>): Work;
  /** Returns the id under which this process is registered as a worker, or null. */
  instanceId(): Promise<string | null>;
  /** Returns the next times after `from` that a schedule matches. */
  nextRuns(cron: string, timezone: string, from: Date, count: number): Date[];
  /** Wakes the workers of every process, because jobs are ready. */
  wakeAll(name: keyof C & string): void;
  /**
   * Returns an expression that wakes the workers of every process when its transaction commits. Only for transactions
   * that seldom run beside others, because those with it commit one after another, and after claimWake.
   */
  wakeOnCommit(sql: Sql | Tx, name: keyof C & string): Fragment;
  /** Returns whether a wake may be sent now: wakes of a process are some milliseconds apart. */
  claimWake(): boolean;
  /** Wakes only this process, without a database statement. */
  wakeLocal(name: keyof C & string): void;
  onWake(name: keyof C & string, listener: () => void): () => void;
  /** Subscribes to wakes from other processes. */
  listen(): Promise<void>;
}

export type FreedJob<D> = Pick<Job<D>, 'id' | 'data'>;

/** The row of a fetched job. */
export interface AcquiredRow {
  readonly id: string;
  readonly retry_count: number;
  readonly data: unknown;
}

export interface QueueOptions<C extends Catalogue> {
  readonly sql: Sql;
  /** A connection that bypasses a pooler, for LISTEN. If there is none, `sql` is used. */
  readonly direct?: Sql;
  /** The URL of a database connection that also bypasses a pooler. */
  readonly url: string;
  readonly catalogue: C;
  readonly application_name: string;
  readonly max_connections: number;
  /** False in a process that only sends, because workers do the supervision. */
  readonly supervise: boolean;
  on_error(error: unknown): void;
}

export function createQueue<C extends Catalogue>(options: QueueOptions<C>): Queue<C> {
  const { sql, direct = sql, catalogue, supervise } = options;
  const holder = randomUUID();
  const pg_boss = createBoss(options);
  const wakes = new Wakes({ sql, direct }, options.on_error);
  let tables: ReadonlyMap<string, JobTable> = new Map();
  const tableOf = (name: string): JobTable => {
    const table = tables.get(name);
    if (!table) throw new Error(`the queue ${name} is not installed; run postrider migrate`);
    return table;
  };
  const readJobs = <N extends keyof C & string, R extends AcquiredRow>(name: N, rows: readonly R[]) =>
    readableJobs(pg_boss, catalogue, name, rows, options.on_error);

  return {
    holder,
    ...createStatements<C>(tableOf, catalogue, holder),
    async start() {
      await pg_boss.start();
      tables = await readJobTables(sql);
    },
    async stop() {
      wakes.stop();
      await pg_boss.stop({ graceful: true, timeout: STOP_MS });
    },
    acquired: readJobs,
    async fetch(name, count) {
      const rows = await sql<(AcquiredRow & { created_on: Date })[]>`
        with taken as (${jobAcquisition(sql, tableOf(name), holder, [{ priority: null, count, created_after: null }])})
        select * from taken order by priority desc, created_on`;
      return (await readJobs(name, rows)).map(({ job }) => job);
    },
    async touch(name, jobs) {
      if (jobs.length > 0) await touchJobs(sql, tableOf(name), jobs);
    },
    async free(tx, name, dead, seen_until) {
      return readableIn(catalogue, name, await freeJobs(tx, tableOf(name), dead, seen_until ?? null));
    },
    async freeUnknown(tx, name, known, seconds) {
      return readableIn(catalogue, name, await freeUnknownJobs(tx, tableOf(name), holder, known, seconds));
    },
    async workerCount() {
      const instances = await pg_boss.getInstances();
      return Math.max(1, instances.filter((instance) => instance.live).length);
    },
    work(name, work_options) {
      const source = createWorkSource(pg_boss, catalogue, name, { table: () => tableOf(name), holder }, options);
      const work = startWork(work_options, source);
      const silence = wakes.onWake(name, () => work.poll());
      return {
        ...work,
        async stop() {
          silence();
          await work.stop();
        },
      };
    },
    instanceId: async () => (supervise ? ownInstanceId(sql) : null),
    nextRuns(cron, timezone, from, count) {
      return pg_boss.previewSchedule(cron, { tz: timezone, from, count });
    },
    wakeAll: wakes.wakeAll,
    wakeOnCommit,
    claimWake: wakes.claimWake,
    wakeLocal: wakes.wakeLocal,
    onWake: wakes.onWake,
    listen: wakes.listen,
  };
}

/** Returns the jobs whose payload parses. The other jobs are skipped here, and reported when they are fetched. */
function readableIn<C extends Catalogue, N extends keyof C & string>(
  catalogue: C,
  name: N,
  rows: readonly FreedRow[],
): FreedJob<Data<C, N>>[] {
  const payload = payloadOf(catalogue, name);
  return rows.flatMap(({ id, data }) => {
    const parsed = payload.safeParse(data);
    // The cast is safe because `payload` is the catalog's schema for exactly this name.
    return parsed.success ? [{ id, data: parsed.data as Data<C, N> }] : [];
  });
}

function createBoss<C extends Catalogue>(options: QueueOptions<C>): PgBoss {
  const { supervise } = options;
  const pg_boss = new PgBoss({
    ...bossConnection(options.url),
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
    // No job waits for another, so there is nothing to unblock. At the default of 5 s, looking takes 1% of a processor.
    flowIntervalSeconds: 86_400,
    connectionTimeoutMillis: 5000,
    // The timeouts are set because a query that never returns would block pg-boss's only supervision loop.
    // synchronous_commit is off because a fetch lost in a Postgres crash is repeated, and our own commits flush
    // everything before them.
    options: '-c statement_timeout=30000 -c idle_in_transaction_session_timeout=30000 -c synchronous_commit=off',
  });
  pg_boss.on('error', (error) => options.on_error(asError(error)));
  return pg_boss;
}

/**
 * Converts an error of pg-boss's workers, which are reported as plain objects that instanceof checks would not
 * recognize.
 */
function asError(error: Error): Error {
  if (error instanceof Error) return error;
  const { message, stack, ...facts } = error as Error;
  return Object.assign(new Error(message), { stack }, facts);
}

type Statements =
  | 'send'
  | 'insertion'
  | 'withdrawal'
  | 'removal'
  | 'resumption'
  | 'acquisition'
  | 'complete'
  | 'withoutLiveJob'
  | 'liveAbout';

/** Creates the methods that run in the caller's statement, or are part of it. */
function createStatements<C extends Catalogue>(
  tableOf: (name: string) => JobTable,
  catalogue: C,
  holder: string,
): Pick<Queue<C>, Statements> {
  return {
    async send(tx, name, jobs) {
      if (jobs.length === 0) return;
      const payload = payloadOf(catalogue, name);
      const source = tx`
        select coalesce(id, gen_random_uuid()) as id, data::jsonb as data, start_after, 0 as priority
        from unnest(
          ${jobs.map((job) => job.id ?? null)}::uuid[],
          ${jobs.map((job) => JSON.stringify(z.encode(payload, job.data)))}::text[],
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
      return jobResumption(sql, tableOf(name), holder, source);
    },
    acquisition(sql, name, requests) {
      return jobAcquisition(sql, tableOf(name), holder, requests);
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
    async withoutLiveJob(tx, name, ids) {
      return idsWithoutLiveJob(tx, tableOf(name), ids);
    },
    async liveAbout(sql, name, field, values) {
      // Payloads store ids as uuids.
      const stored = values.map((value) => (idKindOf(value) === null ? value : uuidOfId(value)));
      const rows = await sql<{ value: string }[]>`
        select distinct j.data ->> ${field} as value from ${sql(`${SCHEMA}.${tableOf(name).table}`)} j
        where j.name = ${name} and j.state < 'completed' and j.data ->> ${field} = any (${stored}::text[])`;
      return new Set(rows.map((row) => idOfUuid(row.value)));
    },
  };
}

/** Returns the jobs whose payload parses. The others are canceled and reported. */
async function readableJobs<C extends Catalogue, N extends keyof C & string, R extends AcquiredRow>(
  pg_boss: PgBoss,
  catalogue: C,
  name: N,
  rows: readonly R[],
  onError: (error: unknown) => void,
): Promise<{ row: R; job: Job<Data<C, N>> }[]> {
  const payload = payloadOf(catalogue, name);
  const unreadable: string[] = [];
  const entries = rows.flatMap((row) => {
    const parsed = payload.safeParse(row.data);
    if (!parsed.success) {
      unreadable.push(row.id);
      return [];
    }
    // The cast is safe because `payload` is the catalog's schema for exactly this name.
    const data = parsed.data as Data<C, N>;
    return [{ row, job: { id: row.id, retry_count: row.retry_count, data } }];
  });
  if (unreadable.length > 0) {
    // Throwing would fail the whole batch on every retry.
    await pg_boss.cancel(name, unreadable);
    onError(new Error(`${name}: jobs with a payload that does not fit were canceled: ${unreadable.join(', ')}`));
  }
  return entries;
}

/** Gives the work loop access to one queue. The table is a function because it is only known after start(). */
function createWorkSource<C extends Catalogue, N extends keyof C & string>(
  pg_boss: PgBoss,
  catalogue: C,
  name: N,
  { table, holder }: { readonly table: () => JobTable; readonly holder: string },
  { sql, on_error }: QueueOptions<C>,
): WorkSource<Data<C, N>> {
  return {
    async fetch(count) {
      const jobs = await pg_boss.fetch<object>(name, { batchSize: count, includeMetadata: true });
      const rows = jobs.map((row) => ({ ...row, retry_count: row.retryCount }));
      if (rows.length > 0) await holdJobs(sql, table(), holder, rows).catch(on_error);
      return (await readableJobs(pg_boss, catalogue, name, rows, on_error)).map(({ row, job }) => {
        const could_run = Math.max(row.createdOn.getTime(), row.startAfter.getTime());
        return { job, started_at: row.startedOn, wait_ms: Math.max(0, row.startedOn.getTime() - could_run) };
      });
    },
    touch: async (holds) => void (await pg_boss.touch(name, holds.map(attemptOf))),
    complete: (hold) => jobCompletion(sql, table(), hold, COMPLETED_SECONDS),
    fail: async (hold, error) => void (await pg_boss.fail(name, attemptOf(hold), error)),
    handBack: (hold) => jobReturn(sql, table(), hold),
    onError: on_error,
  };
}

/**
 * Returns the id of this instance, which pg-boss does not expose. A process has one queue, so the latest row of this
 * process is its own.
 */
async function ownInstanceId(sql: Sql): Promise<string | null> {
  const [row] = await sql<{ id: string }[]>`
    select id from pgboss.instance where host = ${hostname()} and pid = ${process.pid} and stopped_on is null
    order by started_on desc limit 1`;
  return row?.id ?? null;
}

function attemptOf(job: JobHold): { id: string; retryCount: number } {
  return { id: job.id, retryCount: job.retry_count };
}

function payloadOf(catalogue: Catalogue, name: string) {
  const entry = catalogue[name];
  if (!entry) throw new Error(`no job is called ${name}`);
  return entry.payload;
}
