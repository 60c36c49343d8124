import { LEASE_SECONDS } from '@postrider/core/delivery';

// Measured from before the claim or renewal, so that this clock always expires before the database's.
const LEASE_MS = (LEASE_SECONDS - 5) * 1000;

export interface Leased {
  /** A delivery that has not sent the end of DATA by then is aborted, because another worker may have claimed it. */
  readonly lease_ends: number;
  readonly has_result: boolean;
}

/** Returns when a lease requested at this time expires, with a safety margin. */
export function leaseEnd(asked_ms: number): number {
  return asked_ms + LEASE_MS;
}

/** Returns the deliveries that must no longer reach the end of DATA. */
export function leaseLost<T extends Leased>(entries: Iterable<T>, now_ms: number): T[] {
  return [...entries].filter(({ has_result, lease_ends }) => !has_result && now_ms >= lease_ends);
}
