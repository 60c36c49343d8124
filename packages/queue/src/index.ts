export type { Catalogue, Data, Job, JobHold, JobOptions, NewJob } from './catalogue.ts';
export {
  countDead,
  countDeadJobs,
  type DeadRange,
  nextDeadJobs,
  redriveDead,
  retryEnded,
  reviveJobs,
} from './dead-jobs.ts';
export { eraseFromJobs } from './erase-from-jobs.ts';
export { installedTables, installQueue, missingQueues } from './install.ts';
export { cancelAllWaiting, cancelWaiting, type JobKey, runWaiting } from './job-levers.ts';
export type { JobRequest as Wanted } from './job-rows.ts';
export {
  gaugesOf,
  type InstanceRow,
  instancesOf,
  type JobPage,
  type JobPlace,
  type JobQuery as JobsAsked,
  type JobRow,
  type JobState,
  jobStates,
  jobsByIds,
  type QueueGauges,
  readJobPage,
  type ScheduleRow,
  schedulesOf,
} from './job-views.ts';
export { type AcquiredRow, createQueue, type Queue, type QueueOptions } from './queue.ts';
export {
  fetchedJobs,
  fromJobsDueBy,
  fromReadyJobs,
  jobsAhead,
  keepNewestReadyJob,
} from './waiting-jobs.ts';
export type { Fault, Run, Work, WorkOptions } from './work-loop.ts';
