export const queueRanges = ['hour', 'day', 'week', 'month'] as const;
export type QueueRange = (typeof queueRanges)[number];

const HOUR_MS = 3_600_000;
export const rangeMs: Readonly<Record<QueueRange, number>> = {
  hour: HOUR_MS,
  day: 24 * HOUR_MS,
  week: 7 * 24 * HOUR_MS,
  month: 30 * 24 * HOUR_MS,
};
