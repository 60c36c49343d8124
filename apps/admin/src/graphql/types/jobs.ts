import {
  cancelJob,
  getJob,
  type JobDetail,
  type JobView,
  jobStates,
  listJobs,
  retryJob,
  runJobNow,
  runSchedule,
} from '@postrider/core/queues';
import { builder } from '../kit/builder.ts';
import { connectionOf, filterArg, pageArgs } from '../kit/connections.ts';
import { enumOf } from '../kit/enums.ts';
import { call, page } from '../kit/from-operation.ts';
import { inputArg, outcome, resultOf } from '../kit/mutation-results.ts';
import { claimIds, typenameOf } from '../kit/node-ids.ts';
import { Job, Queue, Worker } from '../kit/refs.ts';

const JobState = enumOf('JobState', jobStates, 'RETRY: failed and waiting for a retry. DEAD: no retries left.');

const JobAttempt = builder.objectRef<JobDetail['attempts'][number]>('JobAttempt').implement({
  description: 'A run of a job.',
  fields: (t) => ({
    number: t.exposeInt('number', { description: '1 for the first run.' }),
    startedAt: t.field({
      type: 'DateTime',
      description: 'When the run began.',
      resolve: ({ started_at }) => started_at,
    }),
    durationMs: t.float({
      nullable: true,
      description: 'The duration in milliseconds; null: unknown.',
      resolve: ({ duration_ms }) => duration_ms,
    }),
    error: t.field({
      type: 'JSON',
      nullable: true,
      description: 'name and message; null if it succeeded.',
      resolve: ({ error }) => error,
    }),
    worker: t.exposeString('worker', { nullable: true, description: 'The name of the worker; null: unknown.' }),
  }),
});

claimIds('job', 'Job');
builder.node(Job, {
  description: 'A unit of work in a queue.',
  id: { resolve: ({ id }) => id },
  loadMany: (ids, { load }) => load.jobs.loadMany(ids),
  fields: (t) => ({
    queue: t.field({
      type: Queue,
      description: 'The queue of the job.',
      resolve: async ({ queue }, _, { load }) => {
        const entry = (await load.queues()).find(({ name }) => name === queue);
        if (!entry) throw new Error(`a job is in ${queue}, which is no queue`);
        return entry;
      },
    }),
    state: t.field({ type: JobState, description: 'The state of the job.', resolve: ({ state }) => state }),
    data: t.field({ type: 'JSON', description: 'The payload (IDs only).', resolve: ({ data }) => data }),
    output: t.field({
      type: 'JSON',
      nullable: true,
      description: 'The error of its last failure.',
      resolve: ({ output }) => output,
    }),
    retryCount: t.int({ description: 'Number of retries.', resolve: ({ retry_count }) => retry_count }),
    retryLimit: t.int({ description: 'Maximum number of retries.', resolve: ({ retry_limit }) => retry_limit }),
    priority: t.exposeInt('priority', { description: 'Jobs with a higher number run first.' }),
    startAfter: t.field({
      type: 'DateTime',
      nullable: true,
      description: 'When it is due.',
      resolve: ({ start_after }) => start_after,
    }),
    createdAt: t.field({
      type: 'DateTime',
      description: 'When it was created.',
      resolve: ({ created_at }) => created_at,
    }),
    startedAt: t.field({
      type: 'DateTime',
      nullable: true,
      description: 'When its latest run began; null: not started.',
      resolve: ({ started_at }) => started_at,
    }),
    completedAt: t.field({
      type: 'DateTime',
      nullable: true,
      description: 'When it ended; null while it is open.',
      resolve: ({ completed_at }) => completed_at,
    }),
    heartbeatAt: t.field({
      type: 'DateTime',
      nullable: true,
      description: 'The last heartbeat of its run; null: none.',
      resolve: ({ heartbeat_at }) => heartbeat_at,
    }),
    attempts: t.field({
      type: [JobAttempt],
      description: 'Newest first. For email, the delivery attempts.',
      // Attempts are read one job at a time, so selecting them on a list is expensive.
      complexity: { field: 3, multiplier: 1 },
      resolve: async ({ id }, _, g) => (await call(g, getJob, { id })).attempts,
    }),
    parkedIn: t.string({
      nullable: true,
      description: 'The destination that a ready job waits for.',
      resolve: ({ parked_in }) => parked_in,
    }),
    worker: t.field({
      type: Worker,
      nullable: true,
      description: 'The worker running it, if known. Not recorded for individual emails.',
      resolve: async ({ worker }, _, { load }) =>
        worker && ((await load.workers()).find(({ id }) => id === worker.id) ?? null),
    }),
    subject: t.node({
      description: 'The subject, if it has an ID and is visible to the key.',
      id: ({ subject }) => (subject === null || typenameOf(subject.id) === null ? null : subject.id),
    }),
    subjectId: t.id({
      nullable: true,
      description: 'The ID or name of the subject.',
      resolve: ({ subject }) => subject?.id ?? null,
    }),
  }),
});

const JobFilter = builder.inputType('JobFilter', {
  description: 'Combined with AND.',
  fields: (t) => ({
    queue: t.string({ description: 'The name of a queue, such as delivery.attempt.' }),
    state: t.field({ type: JobState, description: 'The state of the jobs.' }),
    subject: t.id({ description: 'A message, webhook or workspace ID, or a domain name.' }),
    since: t.field({ type: 'DateTime', description: 'Created at or after this time.' }),
    until: t.field({ type: 'DateTime', description: 'Created before this time.' }),
  }),
});

const JobConnection = connectionOf(Job);

builder.queryField('jobs', (t) =>
  t.field({
    type: JobConnection,
    description:
      'Jobs, newest first. If filtered by state, they are sorted by due or end time, otherwise by creation time. Requires operator.',
    args: { ...pageArgs(t), filter: filterArg(t, JobFilter) },
    resolve: (_, { filter, ...args }, g) => page(g, listJobs, args, { ...filter }),
  }),
);

const JobInput = builder.inputType('JobInput', {
  description: 'The job to act on.',
  fields: (t) => ({
    id: t.id({ required: true, description: 'The job ID.' }),
    reason: t.string({ description: 'Reason for the audit log.' }),
  }),
});

const ScheduleInput = builder.inputType('ScheduleInput', {
  description: 'The schedule to run.',
  fields: (t) => ({
    name: t.string({ required: true, description: 'The name of the schedule, as in schedules.' }),
    reason: t.string({ description: 'Reason for the audit log.' }),
  }),
});

const JobPayload = builder.objectRef<{ readonly job: JobView }>('JobPayload').implement({
  description: 'The changed job.',
  fields: (t) => ({
    job: t.field({ type: Job, description: 'The job after the change.', resolve: ({ job }) => job }),
  }),
});
const JobResult = resultOf('JobResult', JobPayload);

builder.mutationFields((t) => {
  const lever = (operation: typeof retryJob, description: string) =>
    t.field({
      type: JobResult,
      description,
      args: { input: inputArg(t, JobInput) },
      resolve: (_, { input }, g) => outcome(async () => ({ job: await call(g, operation, input) })),
    });
  return {
    jobRetry: lever(retryJob, 'Retries a dead or canceled job, or sends a deferred email immediately.'),
    jobCancel: lever(cancelJob, 'Cancels a waiting job or dismisses a dead one.'),
    jobRunNow: lever(runJobNow, 'Runs a scheduled job now.'),
    scheduleRunNow: t.field({
      type: JobResult,
      description: 'Runs a schedule now, without changing its next run.',
      args: { input: inputArg(t, ScheduleInput) },
      resolve: (_, { input }, g) => outcome(async () => ({ job: await call(g, runSchedule, input) })),
    }),
  };
});
