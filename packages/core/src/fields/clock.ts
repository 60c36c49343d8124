/**
 * The process's time, for logs, ids, HTTP deadlines and display. Due and expiry times use the database's clock_now().
 */
export interface Clock {
  now(): number;
}

export const systemClock: Clock = { now: () => Date.now() };

export function isoTime(value: Date | number): string {
  return new Date(value).toISOString();
}
