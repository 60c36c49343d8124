import { catalogue, type JobName } from '../process/jobs.ts';

// The keys of `catalogue` are the job names.
export const heldQueues = Object.keys(catalogue) as readonly JobName[];

/** Queues that a cron schedule adds jobs to; those jobs are interchangeable. */
export const scheduledQueues: readonly string[] = heldQueues.filter((name) => 'cron' in catalogue[name].options);

/** Of the queues, only the email queue releases its backlog at a rate; the jobs of any other queue run immediately. */
export const ratedQueues: readonly JobName[] = ['delivery.attempt'];
