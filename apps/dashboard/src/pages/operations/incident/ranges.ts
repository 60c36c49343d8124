/** How many hours the page goes back. */
export const ranges = { hour: 1, six: 6, day: 24, week: 24 * 7 } as const;
export type Range = keyof typeof ranges;
export const rangeNames: readonly Range[] = ['hour', 'six', 'day', 'week'];

/** The actions that a dialog can take on the email of one destination. */
export const incidentActions = ['hold', 'retry', 'give_up'] as const;
export type IncidentAction = (typeof incidentActions)[number];
