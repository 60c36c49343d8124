export type { Catalogue, Data, Job, JobOptions, NewJob } from './catalogue.ts';
export { countDeadJobs, type DeadRange, nextDeadJobs, reviveJobs } from './dead-jobs.ts';
export { createQueue, installQueue, type JobHold, missingQueues, type Queue, type QueueOptions } from './queue.ts';
