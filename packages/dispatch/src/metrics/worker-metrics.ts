import { catalogue, type JobName, type Services } from '@postrider/core';
import {
  addToHistogram,
  addWork,
  addWorker,
  concurrencies,
  dropWorkerQueues,
  emptyHistogram,
  type Histogram,
  measureQueues,
  queueNames,
} from '@postrider/core/queues';
import manifest from '../../package.json' with { type: 'json' };
import { repeatEvery } from '../repeat-task.ts';

// Workers apply a new concurrency within two seconds.
const POLL_MS = 1000;
// One statement per interval publishes all queues, however many jobs ran.
const PUBLISH_MS = 5000;
const MEASURE_MS = 10_000;
// Only the first of several workers measures, so that together they measure as often as a single worker.
const FRESH_SECONDS = 9;

/** The result of one run of a job. */
export interface JobResult {
  /** The time between when the job was due and when it ran; null if unknown. */
  readonly wait_ms: number | null;
  readonly run_ms: number;
  readonly failed: boolean;
  /** Whether the job has ended, successfully or not. */
  readonly finished: boolean;
}

export interface ActiveWork {
  readonly active: number;
  /** Empty if there are too many to list. */
  readonly job_ids: readonly string[];
}

/** Runs the jobs of a queue in this worker. */
interface Runner {
  active(): ActiveWork;
  /** Called when the concurrency of the queue has changed. */
  changed(): void;
}

/** The finished and active jobs of this worker by queue, and the concurrency of each queue. */
export interface WorkerMetrics {
  /** The id of this worker; null if it is not registered. */
  readonly worker_id: string | null;
  concurrency(queue: JobName): number;
  record(queue: JobName, result: JobResult): void;
  watch(queue: JobName, runner: Runner): void;
  /** Publishes now instead of at the next interval. */
  publish(): Promise<void>;
  stop(): Promise<void>;
}

/** The subset of the metrics that a pump needs. */
export type QueueMetrics = Pick<WorkerMetrics, 'concurrency' | 'record' | 'watch'>;

interface Tally {
  finished: number;
  failed: number;
  wait_bins: Histogram;
  run_bins: Histogram;
}

const newTally = (): Tally => ({ finished: 0, failed: 0, wait_bins: emptyHistogram(), run_bins: emptyHistogram() });

export async function openWorkerMetrics(services: Services): Promise<WorkerMetrics> {
  const { sql, log } = services;
  const worker_id = await services.jobs.instanceId();
  if (worker_id !== null) await addWorker(sql, worker_id, manifest.version);
  const tallies = new Map<JobName, Tally>();
  const runners = new Map<JobName, Runner>();
  let set: ReadonlyMap<string, number> = await concurrencies(sql);

  const concurrency = (queue: JobName) => set.get(queue) ?? catalogue[queue].concurrency;

  const poll = async () => {
    const before = set;
    set = await concurrencies(sql);
    for (const [queue, runner] of runners) {
      if (before.get(queue) !== set.get(queue)) runner.changed();
    }
  };

  const publish = async () => {
    const published = [...tallies];
    tallies.clear();
    const tallyOf = new Map(published);
    const names = [...new Set([...tallyOf.keys(), ...runners.keys()])];
    if (names.length === 0) return;
    await addWork(
      sql,
      worker_id,
      names.map((queue) => {
        const { active, job_ids } = runners.get(queue)?.active() ?? { active: 0, job_ids: [] };
        return { queue, ...(tallyOf.get(queue) ?? newTally()), active, concurrency: concurrency(queue), job_ids };
      }),
    );
  };

  const tasks = [
    repeatEvery(POLL_MS, poll, services),
    repeatEvery(PUBLISH_MS, publish, services),
    repeatEvery(MEASURE_MS, () => measureQueues(sql, queueNames, FRESH_SECONDS), services),
  ];
  await measureQueues(sql, queueNames, FRESH_SECONDS).catch((error) =>
    log.error({ err: error }, 'failed to measure the queues'),
  );

  return {
    worker_id,
    concurrency,
    record(queue, { wait_ms, run_ms, failed, finished }) {
      const tally = tallies.get(queue) ?? newTally();
      tallies.set(queue, tally);
      if (finished) tally.finished += 1;
      if (failed) tally.failed += 1;
      if (wait_ms !== null) addToHistogram(tally.wait_bins, wait_ms);
      addToHistogram(tally.run_bins, run_ms);
      services.metrics.observe('queue_run_seconds', [queue], run_ms / 1000);
      if (wait_ms !== null) services.metrics.observe('queue_wait_seconds', [queue], wait_ms / 1000);
    },
    watch(queue, runner) {
      runners.set(queue, runner);
    },
    publish,
    async stop() {
      for (const task of tasks) await task.stop();
      runners.clear();
      await publish();
      if (worker_id !== null) await dropWorkerQueues(sql, worker_id);
    },
  };
}
