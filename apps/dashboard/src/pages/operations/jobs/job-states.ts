export const jobStates = ['ready', 'active', 'deferred', 'retry', 'dead', 'completed', 'canceled'] as const;
export type JobState = (typeof jobStates)[number];
