/** What the process last did with its database, for those who ask whether it is able. Times by performance.now(). */
export interface Vitals {
  /** Of the last batch of mail that could not be stored for a fault of the database; null after one that was. */
  accept_failed_at: number | null;
  /** When due mail was last asked for; null where no worker runs. */
  fetched_at: number | null;
}

export function newVitals(): Vitals {
  return { accept_failed_at: null, fetched_at: null };
}
