import { LEASE_SECONDS } from '@postrider/core/delivery';

// Counted from before the claim or the renewal, so that this clock always ends before the database's.
const LEASE_MS = (LEASE_SECONDS - 5) * 1000;

export interface Leased {
  /** A delivery that is not past the dot by then is aborted: the lease may have gone to another worker. */
  readonly lease_ends: number;
  /** Its result is known. */
  readonly has_result: boolean;
}

/** The end of a lease requested at this time, with a safety margin. */
export function leaseEnd(asked_ms: number): number {
  return asked_ms + LEASE_MS;
}

/** The deliveries that must no longer reach the dot. */
export function outOfLease<T extends Leased>(entries: Iterable<T>, now_ms: number): T[] {
  return [...entries].filter(({ has_result, lease_ends }) => !has_result && now_ms >= lease_ends);
}
