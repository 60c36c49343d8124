/** The last database activity of the process, for health checks. Times are from performance.now(). */
export interface Vitals {
  /** When a batch of messages last failed to be stored because of a database error; null once a batch has succeeded. */
  accept_failed_at: number | null;
  /** When due messages were last fetched; null if no worker runs. */
  fetched_at: number | null;
}

export function newVitals(): Vitals {
  return { accept_failed_at: null, fetched_at: null };
}
