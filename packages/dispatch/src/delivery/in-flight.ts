import type { Claimed } from '@postrider/core/delivery';
import { type Candidate, NO_LANE } from '../lanes/candidate.ts';
import type { Indexed } from './in-flight-set.ts';
import { type Leased, leaseEnd } from './leases.ts';
import type { Prerendered } from './prerender.ts';
import type { Unrecorded } from './unrecorded.ts';

/** A claimed delivery, until its result is in the database. */
export interface InFlight extends Indexed, Leased {
  readonly claimed: Claimed;
  readonly lane: string;
  /** The claimed delivery; null if it is no longer known. */
  readonly candidate: Candidate | null;
  /** Infinity until it has its place in the lane. */
  started: number;
  readonly abort: AbortController;
  lease_ends: number;
  /** It has a connection. */
  begun: boolean;
  /** Its content has begun: it may arrive. */
  unrecorded: Unrecorded | null;
  sent: boolean;
  /** The status of its message says that it is being sent. */
  shown: boolean;
  /** Its entry in the prerender queue. */
  prerendered: Prerendered | null;
  /** The prerendered bytes until they are sent. */
  made: Promise<unknown> | null;
}

/** A delivery whose claim was asked for at this time. */
export function newInFlight(claimed: Claimed, candidate: Candidate | null, asked_ms: number): InFlight {
  return {
    claimed,
    lane: candidate?.lane ?? NO_LANE,
    candidate,
    started: Number.POSITIVE_INFINITY,
    abort: new AbortController(),
    lease_ends: leaseEnd(asked_ms),
    begun: false,
    unrecorded: null,
    sent: false,
    shown: false,
    prerendered: null,
    made: null,
    index: -1,
  };
}
