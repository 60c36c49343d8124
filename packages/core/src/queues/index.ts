export { jobStates } from '@postrider/queue';
export { cancelJob } from './cancel-job.ts';
export { followQueues } from './follow-queues.ts';
export { getJob, type JobDetail } from './get-job.ts';
export { getQueue } from './get-queue.ts';
export { jobId, jobUuid } from './job-id.ts';
export type { JobView } from './job-view.ts';
export { listJobs } from './list-jobs.ts';
export { listQueues } from './list-queues.ts';
export { listSchedules, type ScheduleView } from './list-schedules.ts';
export { listWorkers, type WorkerView } from './list-workers.ts';
export { type QueuePoint, queueHistory } from './queue-history.ts';
export { queueNames } from './queue-names.ts';
export type { QueueView } from './queue-view.ts';
export { readJobs, readJobsOfMessages } from './read-jobs.ts';
export { type Redriven, redriveQueue } from './redrive-queue.ts';
export { retryJob } from './retry-job.ts';
export { runJobNow } from './run-job-now.ts';
export { runSchedule } from './run-schedule.ts';
export { addToHistogram, emptyHistogram, type Histogram } from './run-times.ts';
export { setConcurrency } from './set-concurrency.ts';
export {
  addJobAttempt,
  addWork,
  addWorker,
  concurrencies,
  dropWorkerQueues,
  forgetWork,
  measureQueues,
} from './store.ts';
