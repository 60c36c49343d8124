import { z } from 'zod';

/** Priorities of the messages of one workspace, most urgent first. */
export const priorities = ['high', 'normal', 'bulk'] as const;
export type Priority = (typeof priorities)[number];

/** Turns that each priority gets while all three wait, so bulk messages are slow but never stop. */
export const priorityWeights: Readonly<Record<Priority, number>> = { high: 8, normal: 4, bulk: 1 };

/** Job priorities; normal is the default. */
export const jobPriorities: Readonly<Record<Priority, number>> = { high: 1, normal: 0, bulk: -1 };

export function jobPriority(job_priority: number): Priority {
  if (job_priority === 0) return 'normal';
  return job_priority > 0 ? 'high' : 'bulk';
}

export const priorityField = z.enum(priorities).meta({
  id: 'Priority',
  description:
    "The email's priority within its workspace. While emails of all three priorities wait for a destination, they are sent in a ratio of 8:4:1. The priority is not added to the headers.",
});
