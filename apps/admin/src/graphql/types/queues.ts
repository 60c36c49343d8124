import { type AuditEntry as Audited, listAudit } from '@postrider/core/audit';
import {
  followQueues,
  getQueue,
  listSchedules,
  type QueuePoint as Point,
  type QueueView,
  queueHistory,
  type Redriven,
  redriveQueue,
  type ScheduleView,
  setConcurrency,
} from '@postrider/core/queues';
import { POINTS_PER_OBJECT } from '../cost/cost-meter.ts';
import { builder } from '../kit/builder.ts';
import { enumOf } from '../kit/enums.ts';
import { call } from '../kit/from-operation.ts';
import { inputArg, outcome, resultOf } from '../kit/mutation-results.ts';
import { Hold, Job, Queue, Worker } from '../kit/refs.ts';
import type { GraphqlContext } from '../kit/request-context.ts';
import { TimeRange } from '../kit/time-range.ts';
import { AuditEntry } from './audit.ts';

// The typical number of queues or workers, used to compute the cost of a list.
const SAMPLE_SIZE = 10;

const Percentile = builder.objectRef<QueueView['wait'][number]>('Percentile').implement({
  description: 'One percentile of a duration.',
  fields: (t) => ({
    p: t.exposeInt('p', { description: 'The percentile, from 1 to 100.' }),
    seconds: t.exposeFloat('seconds', { nullable: true, description: 'null: no data.' }),
  }),
});

interface PointOf extends Point {
  readonly end: string;
  /** Admin actions on the queue over the whole range, read once. */
  readonly annotations: () => Promise<readonly Audited[]>;
}

const QueuePoint = builder.objectRef<PointOf>('QueuePoint').implement({
  description: 'The state of a queue over one interval.',
  fields: (t) => ({
    at: t.field({ type: 'DateTime', description: 'Start of the interval.', resolve: ({ at }) => at }),
    ready: t.exposeInt('ready', { description: 'The maximum in the interval.' }),
    deferred: t.exposeInt('deferred', { description: 'The maximum in the interval.' }),
    active: t.exposeInt('active', { description: 'The maximum in the interval.' }),
    dead: t.exposeInt('dead', { description: 'The maximum in the interval.' }),
    parked: t.exposeInt('parked', { description: 'The maximum in the interval.' }),
    oldestReadySeconds: t.float({
      nullable: true,
      description: 'The maximum in the interval, in seconds; null: none was ready.',
      resolve: ({ oldest_ready_seconds }) => oldest_ready_seconds,
    }),
    finished: t.exposeInt('finished', { description: 'Jobs done.' }),
    failed: t.exposeInt('failed', { description: 'Runs that failed.' }),
    waitP95: t.float({
      nullable: true,
      description: 'The 95th percentile of wait times in seconds; null: nothing ran.',
      resolve: ({ wait_p95_seconds }) => wait_p95_seconds,
    }),
    annotations: t.field({
      type: [AuditEntry],
      description: 'Admin actions on the queue in the interval.',
      // All points share one list of actions.
      complexity: { field: 0, multiplier: SAMPLE_SIZE },
      resolve: async ({ at, end, annotations }) =>
        (await annotations()).filter((entry) => entry.at >= at && entry.at < end),
    }),
  }),
});

/** Reads percentiles that were not selected with the queue. */
async function times(g: GraphqlContext, queue: QueueView, measure: 'wait' | 'run', percentiles: readonly number[]) {
  const known = new Map(queue[measure].map((one) => [one.p, one]));
  const durations = percentiles.flatMap((p) => known.get(p) ?? []);
  if (durations.length === percentiles.length) return durations;
  return (await call(g, getQueue, { queue: queue.name, percentiles }))[measure];
}

Queue.implement({
  description: 'A queue, as last measured by a worker.',
  fields: (t) => {
    const percentiles = t.arg.intList({
      defaultValue: [50, 95, 99],
      description: 'From 1 to 100 each, at most 20.',
    });
    return {
      name: t.exposeString('name', { description: 'The name of the queue, such as delivery.attempt.' }),
      purpose: t.exposeString('purpose', { description: 'The work that its jobs do.' }),
      ready: t.exposeInt('ready', { description: 'Due and not active.' }),
      deferred: t.exposeInt('deferred', { description: 'Due later, including retries.' }),
      active: t.exposeInt('active', { description: 'Running jobs.' }),
      dead: t.exposeInt('dead', { description: 'No retries left.' }),
      parked: t.exposeInt('parked', { description: 'Due email that waits for its destination.' }),
      oldestReadySeconds: t.float({
        nullable: true,
        description: 'How long the oldest ready job has been due, in seconds; null: none is ready.',
        resolve: ({ oldest_ready_seconds }) => oldest_ready_seconds,
      }),
      inPerMin: t.float({
        nullable: true,
        description: 'New jobs per minute, estimated over the last five minutes; null: not measured long enough.',
        resolve: ({ in_per_minute }) => in_per_minute,
      }),
      outPerMin: t.float({
        nullable: true,
        description: 'Jobs completed per minute, over the last five minutes.',
        resolve: ({ out_per_minute }) => out_per_minute,
      }),
      failPerMin: t.float({
        nullable: true,
        description: 'Failed runs per minute, over the last five minutes: deferrals or errors.',
        resolve: ({ fail_per_minute }) => fail_per_minute,
      }),
      drainSeconds: t.float({
        nullable: true,
        description: 'Estimated time until no jobs are ready, at these rates; null if the queue is not shrinking.',
        resolve: ({ drain_seconds }) => drain_seconds,
      }),
      wait: t.field({
        type: [Percentile],
        description: 'Time from due to start, over the last 15 minutes.',
        args: { percentiles },
        complexity: { field: 1, multiplier: 1 },
        resolve: (queue, args, g) => times(g, queue, 'wait', args.percentiles ?? []),
      }),
      run: t.field({
        type: [Percentile],
        description: 'Time from start to end, over the last 15 minutes.',
        args: { percentiles },
        complexity: { field: 1, multiplier: 1 },
        resolve: (queue, args, g) => times(g, queue, 'run', args.percentiles ?? []),
      }),
      concurrency: t.exposeInt('concurrency', { description: 'Concurrent jobs per worker.' }),
      paused: t.field({
        type: Hold,
        nullable: true,
        description: 'The hold on this queue.',
        resolve: async ({ name }, _, { load }) => (await load.heldQueues()).get(name) ?? null,
      }),
      workers: t.field({
        type: [Worker],
        description: 'The live workers of this queue.',
        complexity: { field: 1, multiplier: SAMPLE_SIZE },
        resolve: async ({ workers }, _, { load }) => {
          const ids = new Set(workers.map(({ id }) => id));
          return ids.size === 0 ? [] : (await load.workers()).filter(({ id }) => ids.has(id));
        },
      }),
      history: t.field({
        type: [QueuePoint],
        description: 'Depth and finished jobs over time, per minute or coarser, for up to 31 days.',
        args: {
          range: t.arg({ type: TimeRange, required: true, description: 'The time range of the points.' }),
          maxPoints: t.arg.int({ defaultValue: 300, description: 'The maximum number of points, from 1 to 1000.' }),
        },
        complexity: ({ maxPoints }) => ({
          field: 5 + Math.ceil(Math.max(maxPoints ?? 300, 1) / POINTS_PER_OBJECT),
          multiplier: 1,
        }),
        resolve: async ({ name }, { range, maxPoints }, g): Promise<PointOf[]> => {
          const { data, point_seconds } = await call(g, queueHistory, { queue: name, ...range, maxPoints });
          let read: Promise<readonly Audited[]> | null = null;
          const annotations = () => {
            const filter = { chain: 'instance', targetId: name, ...range, limit: 100 };
            read ??= call(g, listAudit, filter).then((list) => list.data);
            return read;
          };
          return data.map((point, index) => ({
            ...point,
            // The last point extends to the end of the range.
            end: data[index + 1]?.at ?? range.until ?? AFTER_ALL,
            point_seconds,
            annotations,
          }));
        },
      }),
      measuredAt: t.field({
        type: 'DateTime',
        nullable: true,
        description: 'When a worker last measured it; null if never.',
        resolve: ({ measured_at }) => measured_at,
      }),
    };
  },
});
const AFTER_ALL = '9999';

Worker.implement({
  description: 'A worker process, live or recently stopped.',
  fields: (t) => ({
    id: t.exposeID('id', { description: 'A new one on each start of the process.' }),
    name: t.exposeString('name', { description: 'The configured name, or host:pid.' }),
    host: t.exposeString('host', { description: 'The host that it runs on.' }),
    version: t.exposeString('version', {
      nullable: true,
      description: 'The Postrider version; null until the worker reports it.',
    }),
    live: t.exposeBoolean('live', {
      description: 'Whether it is running: not stopped, with fewer than three missed heartbeats.',
    }),
    startedAt: t.field({
      type: 'DateTime',
      description: 'When the process started.',
      resolve: ({ started_at }) => started_at,
    }),
    lastHeartbeatAt: t.field({
      type: 'DateTime',
      description: 'When it last reported.',
      resolve: ({ last_heartbeat_at }) => last_heartbeat_at,
    }),
    stoppedAt: t.field({
      type: 'DateTime',
      nullable: true,
      description: 'When it stopped; null while it runs, and after a crash.',
      resolve: ({ stopped_at }) => stopped_at,
    }),
    queues: t.stringList({
      description: 'The names of the queues that it works on; empty if it is not live.',
      resolve: ({ queues }) => [...queues],
    }),
    active: t.exposeInt('active', { description: 'Number of running jobs.' }),
    concurrency: t.exposeInt('concurrency', { description: 'Maximum number of concurrent jobs over all its queues.' }),
    rssBytes: t.field({
      type: 'BigInt',
      nullable: true,
      description: 'Resident memory in bytes; null: not reported.',
      resolve: ({ rss_bytes }) => rss_bytes,
    }),
    cpu: t.exposeFloat('cpu', { nullable: true, description: 'Processor cores used.' }),
    loopDelayP99Ms: t.float({
      nullable: true,
      description: 'The 99th percentile of the event loop delay in milliseconds; null: not reported.',
      resolve: ({ loop_delay_p99_ms }) => loop_delay_p99_ms,
    }),
    poolWaiting: t.int({
      nullable: true,
      description: 'Requests waiting for a queue pool connection; null: not reported.',
      resolve: ({ pool_waiting }) => pool_waiting,
    }),
    crashRestarts: t.int({
      description: 'Number of worker crashes on its host.',
      resolve: ({ crash_restarts }) => crash_restarts,
    }),
  }),
});

const MissedPolicy = enumOf('MissedPolicy', ['skip', 'once'], 'Policy for missed runs.');

const Schedule = builder.objectRef<ScheduleView>('Schedule').implement({
  description: 'A cron schedule that creates jobs.',
  fields: (t) => ({
    name: t.exposeString('name', { description: 'The name of the schedule and of its queue.' }),
    cron: t.exposeString('cron', { description: 'The cron expression.' }),
    timezone: t.exposeString('timezone', { description: 'The time zone of the cron expression.' }),
    human: t.string({ description: 'The cron expression in words.', resolve: ({ in_words }) => in_words }),
    nextRuns: t.field({
      type: ['DateTime'],
      description: 'The times of the next runs.',
      args: { count: t.arg.int({ defaultValue: 3, description: 'Up to 20.' }) },
      resolve: async ({ name, next_runs }, { count }, g) => {
        if (count == null || count === next_runs.length) return next_runs;
        const { data } = await call(g, listSchedules, { nextRuns: count });
        return data.find((schedule) => schedule.name === name)?.next_runs ?? [];
      },
    }),
    lastRun: t.field({
      type: Job,
      nullable: true,
      description: 'null after it expires.',
      resolve: ({ last_run }, _, { load }) => last_run && load.jobs.load(last_run.id),
    }),
    missedPolicy: t.field({
      type: MissedPolicy,
      description: 'SKIP: missed runs are dropped. ONCE: they are made up for with one run.',
      resolve: ({ missed_policy }) => missed_policy,
    }),
  }),
});

builder.queryFields((t) => ({
  queues: t.field({
    type: [Queue],
    description: 'Every queue. Requires operator.',
    complexity: { field: 1, multiplier: SAMPLE_SIZE },
    resolve: (_, __, { load }) => load.queues(),
  }),
  queue: t.field({
    type: Queue,
    nullable: true,
    description: 'One queue by its name; null if there is none. Requires operator.',
    args: { name: t.arg.string({ required: true, description: 'The name of a queue, such as delivery.attempt.' }) },
    resolve: async (_, { name }, { load }) => (await load.queues()).find((queue) => queue.name === name) ?? null,
  }),
  workers: t.field({
    type: [Worker],
    description: 'Newest first, including workers that stopped within the last day. Requires operator.',
    complexity: { field: 1, multiplier: SAMPLE_SIZE },
    resolve: (_, __, { load }) => load.workers(),
  }),
  schedules: t.field({
    type: [Schedule],
    description: 'The cron schedules. Requires operator.',
    complexity: { field: 1, multiplier: SAMPLE_SIZE },
    resolve: async (_, __, g) => (await call(g, listSchedules, {})).data,
  }),
}));

builder.subscriptionField('queueStats', (t) =>
  t.field({
    type: [Queue],
    description: 'Queues, each time a worker measures them. Requires operator.',
    args: { names: t.arg.stringList({ description: 'Default: all.' }) },
    complexity: { field: 1, multiplier: SAMPLE_SIZE },
    subscribe: (_, { names }, g) => g.follow(g, () => call(g, followQueues, { queues: names })),
    resolve: (queues) => [...queues],
  }),
);

const ConcurrencyInput = builder.inputType('ConcurrencyInput', {
  description: 'The concurrency of a queue.',
  fields: (t) => ({
    queue: t.string({ required: true, description: 'The name of a queue, such as delivery.attempt.' }),
    concurrency: t.int({ required: true, description: 'From 1 to 1000 per worker.' }),
    reason: t.string({ description: 'Reason for the audit log.' }),
  }),
});

const QueuePayload = builder.objectRef<{ readonly queue: QueueView }>('QueuePayload').implement({
  description: 'The changed queue.',
  fields: (t) => ({
    queue: t.field({ type: Queue, description: 'The queue after the change.', resolve: ({ queue }) => queue }),
  }),
});
const QueueResult = resultOf('QueueResult', QueuePayload);

const RedriveInput = builder.inputType('RedriveInput', {
  description: 'The queue whose dead jobs are retried.',
  fields: (t) => ({
    queue: t.string({ required: true, description: 'The name of a queue, such as delivery.attempt.' }),
    limit: t.int({ description: 'The maximum number of jobs to retry, oldest first.' }),
    preview: t.boolean({ description: 'Only count them.' }),
    reason: t.string({ description: 'Reason for the audit log.' }),
  }),
});

const RedrivePayload = builder.objectRef<Redriven>('RedrivePayload').implement({
  description: 'The result of retrying dead jobs.',
  fields: (t) => ({
    queueName: t.string({ description: 'The name of the queue.', resolve: ({ queue }) => queue }),
    dead: t.exposeInt('dead', { description: 'Number of dead jobs before the action, counted up to 10001.' }),
    redriven: t.exposeInt('redriven', { description: 'Number of jobs retried; 0 for a preview.' }),
  }),
});
const RedriveResult = resultOf('RedriveResult', RedrivePayload);

builder.mutationFields((t) => ({
  queueSetConcurrency: t.field({
    type: QueueResult,
    description: 'Takes effect on every worker within two seconds.',
    args: { input: inputArg(t, ConcurrencyInput) },
    resolve: (_, { input }, g) => outcome(async () => ({ queue: await call(g, setConcurrency, input) })),
  }),
  queueRedrive: t.field({
    type: RedriveResult,
    description: 'Retries the dead jobs in a queue.',
    args: { input: inputArg(t, RedriveInput) },
    resolve: (_, { input }, g) => outcome(() => call(g, redriveQueue, input)),
  }),
}));
