export type { Catalogue, Data, Job, JobOptions, NewJob } from './catalogue.ts';
export { createQueue, installQueue, type JobHold, missingQueues, type Queue, type QueueOptions } from './queue.ts';
