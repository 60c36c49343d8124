import { catalogue, type JobName } from '../process/jobs.ts';

// The keys of the catalogue are its names.
export const heldQueues = Object.keys(catalogue) as readonly JobName[];

/** Those that get a job at each match of a time, all of them alike. */
export const scheduledQueues: readonly string[] = heldQueues.filter((name) => 'cron' in catalogue[name].options);

/** Where a rate after the end means something: what goes out to others. */
export const ratedQueues: readonly JobName[] = ['delivery.attempt'];
