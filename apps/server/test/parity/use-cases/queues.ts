import { randomUUID } from 'node:crypto';
import { invoke } from '@postrider/core';
import { limitDestination, listDestinations, releaseDestination } from '@postrider/core/lanes';
import {
  cancelJob,
  getJob,
  getQueue,
  jobId,
  listJobs,
  listQueues,
  listSchedules,
  listWorkers,
  measureQueues,
  queueHistory,
  queueNames,
  redriveQueue,
  retryJob,
  runJobNow,
  runSchedule,
  setConcurrency,
} from '@postrider/core/queues';
import type { World } from '@postrider/testing';
import * as shapes from '../shapes.ts';
import {
  absent,
  connection,
  fields,
  type Input,
  mutation,
  reading,
  type Setup,
  type UseCase,
  useCase,
} from '../use-case.ts';
import { emptySetup, HOUR_MS, hoursAhead, NO_PAGE, NO_REST, node, sent, several, withInput } from './setup.ts';

async function addJob(world: World, name: 'webhook.close' | 'storage.maintain' = 'webhook.close'): Promise<string> {
  const id = randomUUID();
  const start_after = new Date(world.clock.now() + HOUR_MS);
  const job = { id, data: { webhook_id: 'whk_none' }, start_after };
  await world.services.sql.begin((tx) => world.services.jobs.send(tx, name, [job]));
  return jobId(id);
}

const aJob: UseCase['given'] = async (world) => ({ input: { id: await addJob(world, 'storage.maintain') } });

async function measured(world: World, input: Input): Promise<Setup> {
  await addJob(world);
  await measureQueues(world.services.sql, queueNames, 0);
  return { input };
}

const wrapped = (data: unknown) => ({ data });
const changedJob = (field: string) => mutation(field, 'JobInput', 'JobPayload', `of: job { ${shapes.job} }`);

export const queues = [
  useCase(listQueues, {
    rest: NO_REST,
    trpc: 'GET ops.queues',
    graphql: reading('queues', {}, shapes.queue, undefined, wrapped),
    given: (world) => measured(world, {}),
  }),
  useCase(getQueue, {
    rest: NO_REST,
    trpc: 'GET ops.queue',
    graphql: reading('queue', { name: 'String!' }, shapes.queue, ({ input }) => ({ name: input.queue })),
    given: (world) => measured(world, { queue: 'webhook.close' }),
    target: 'queue',
    foreign: false,
    looks_up: true,
  }),
  useCase(queueHistory, {
    rest: NO_REST,
    trpc: 'GET ops.history',
    graphql: {
      field: 'queue',
      document: `query ($name: String!, $range: TimeRange!, $maxPoints: Int) { value: queue(name: $name) {
        data: history(range: $range, maxPoints: $maxPoints) { ${shapes.queuePoint} } } }`,
      variables: ({ input: { queue, since, max_points } }) => ({
        name: queue,
        range: { since },
        maxPoints: max_points,
      }),
      value: (response) => response,
    },
    given: (world) => measured(world, { queue: 'webhook.close', since: hoursAhead(world, -1), max_points: 5 }),
    target: 'queue',
    foreign: false,
    looks_up: true,
    bad: { max_points: 0 },
  }),
  useCase(setConcurrency, {
    rest: NO_REST,
    trpc: 'POST ops.setConcurrency',
    graphql: mutation('queueSetConcurrency', 'ConcurrencyInput', 'QueuePayload', `of: queue { ${shapes.queue} }`),
    given: withInput({ queue: 'webhook.close', concurrency: 7, reason: 'Slow' }),
    target: 'queue',
    foreign: false,
    writes: true,
    bad: { concurrency: 0 },
  }),
  useCase(redriveQueue, {
    rest: NO_REST,
    trpc: NO_PAGE,
    graphql: mutation('queueRedrive', 'RedriveInput', 'RedrivePayload', 'queue: queueName dead redriven'),
    given: withInput({ queue: 'webhook.close', limit: 5 }),
    target: 'queue',
    foreign: false,
    writes: true,
    bad: { limit: 0 },
  }),
  useCase(listJobs, {
    rest: NO_REST,
    trpc: 'GET ops.jobs.list',
    graphql: connection('jobs', shapes.job, { filter: 'JobFilter' }, ({ input: { queue, subject } }) => ({
      filter: { queue, subject },
    })),
    given: async (world, workspace_id, number) => {
      await sent(world, workspace_id, number);
      return several(() => addJob(world), { queue: 'webhook.close' });
    },
    paged: true,
    bad: { subject: 'someone' },
  }),
  useCase(getJob, {
    rest: NO_REST,
    trpc: 'GET ops.jobs.get',
    graphql: node('Job', shapes.job),
    given: aJob,
    scope_on: { graphql: absent('To who is no operator node finds no job.') },
    target: 'id',
    foreign: false,
    looks_up: true,
  }),
  useCase(retryJob, {
    rest: NO_REST,
    trpc: 'POST ops.jobs.retry',
    graphql: changedJob('jobRetry'),
    async given(world, workspace_id, number) {
      const subject = await aJob(world, workspace_id, number);
      await invoke(world.as(workspace_id), cancelJob, subject.input);
      return subject;
    },
    target: 'id',
    foreign: false,
    writes: true,
  }),
  useCase(cancelJob, {
    rest: NO_REST,
    trpc: 'POST ops.jobs.cancel',
    graphql: changedJob('jobCancel'),
    given: aJob,
    target: 'id',
    foreign: false,
    writes: true,
  }),
  useCase(runJobNow, {
    rest: NO_REST,
    trpc: 'POST ops.jobs.runNow',
    graphql: changedJob('jobRunNow'),
    given: aJob,
    target: 'id',
    foreign: false,
    writes: true,
  }),
  useCase(listWorkers, {
    rest: NO_REST,
    trpc: 'GET ops.workers',
    graphql: reading('workers', {}, shapes.worker, undefined, wrapped),
    given: emptySetup,
  }),
  useCase(listDestinations, {
    rest: NO_REST,
    trpc: 'GET destinations.list',
    graphql: reading(
      'destinations',
      {},
      `destination: name ${fields('transport_id transport_name connections messages_per_minute closed_until last_reply held_until hold_id parked')}
       reason: closedReason`,
      undefined,
      wrapped,
    ),
    async given(world, workspace_id, number) {
      await invoke(world.as(workspace_id), limitDestination, {
        destination: `nr${number}.example.net`,
        connections: 2,
      });
      return { input: {} };
    },
  }),
  useCase(limitDestination, {
    rest: NO_REST,
    trpc: 'POST destinations.limit',
    graphql: mutation(
      'destinationLimit',
      'DestinationLimitInput',
      'DestinationPayload',
      'destination: name connections messages_per_minute: messagesPerMinute',
    ),
    given: async (_, __, number) => ({ input: { destination: `nr${number}.example.net`, messages_per_minute: 60 } }),
    writes: true,
    bad: { messages_per_minute: 0 },
  }),
  useCase(releaseDestination, {
    rest: NO_REST,
    trpc: 'POST destinations.release',
    graphql: mutation(
      'destinationRelease',
      'DestinationInput',
      'DestinationReleasePayload',
      'destination: name released',
    ),
    async given(world, workspace_id, number) {
      const destination = `nr${number}.example.net`;
      await invoke(world.as(workspace_id), limitDestination, { destination, connections: 2 });
      return { input: { destination } };
    },
    writes: true,
  }),
  useCase(listSchedules, {
    rest: NO_REST,
    trpc: 'GET ops.schedules.list',
    graphql: reading('schedules', {}, shapes.schedule, undefined, wrapped),
    given: emptySetup,
  }),
  useCase(runSchedule, {
    rest: NO_REST,
    trpc: 'POST ops.schedules.run',
    graphql: mutation('scheduleRunNow', 'ScheduleInput', 'JobPayload', `of: job { ${shapes.job} }`),
    given: withInput({ name: 'storage.maintain', reason: 'Now' }),
    target: 'name',
    foreign: false,
    writes: true,
  }),
];
