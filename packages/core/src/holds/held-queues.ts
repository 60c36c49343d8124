import { catalogue, type JobName } from '../jobs.ts';

// The keys of the catalogue are its names.
export const heldQueues = Object.keys(catalogue) as readonly JobName[];

/** Where a rate after the end means something: what goes out to others. */
export const ratedQueues: readonly JobName[] = ['delivery.attempt'];
