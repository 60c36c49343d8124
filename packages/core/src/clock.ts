/**
 * The process's time: for logs, ids, HTTP deadlines and display. What is due, expired or in a window
 * is decided by the database's clock_now(), never by this.
 */
export interface Clock {
  now(): number;
}

export const systemClock: Clock = { now: () => Date.now() };

export function isoTime(value: Date | number): string {
  return new Date(value).toISOString();
}
