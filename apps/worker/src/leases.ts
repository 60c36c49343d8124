import { LEASE_SECONDS } from '@postrider/core/delivery';

// Counted from before the claim or the renewal, so that this clock always ends before the database's.
const LEASE_MS = (LEASE_SECONDS - 5) * 1000;

export interface Leased {
  /** What is not past the dot by then is aborted, because the lease may have gone to somebody else. */
  readonly lease_ends: number;
  /** Its result is known. */
  readonly sent: boolean;
}

/** The end, as far as this process may trust in it, of a lease that it asked for at this time. */
export function leaseEnd(asked_ms: number): number {
  return asked_ms + LEASE_MS;
}

/** Whoever must not reach the dot any more. */
export function outOfLease<T extends Leased>(entries: Iterable<T>, now_ms: number): T[] {
  return [...entries].filter(({ sent, lease_ends }) => !sent && now_ms >= lease_ends);
}
