import type { Claimed } from '@postrider/core/delivery';
import { type Candidate, NO_LANE } from '../lanes/candidate.ts';
import type { Indexed } from './in-flight-set.ts';
import { type Leased, leaseEnd } from './leases.ts';
import type { Prerendered } from './prerender.ts';
import type { ContentSlot } from './unrecorded.ts';

/** A claimed delivery whose result is not in the database yet. */
export interface InFlight extends Indexed, Leased {
  readonly claimed: Claimed;
  /** Changes if another transport takes over. */
  lane: string;
  /** The fetched job with its lane; null if the claim returned a job that was not requested. */
  readonly candidate: Candidate | null;
  /** Infinity until the lane has started it. */
  started: number;
  readonly abort: AbortController;
  lease_ends: number;
  has_connection: boolean;
  /** Acquired before the first byte of content is sent. From then on, the message may be delivered. */
  content_slot: ContentSlot | null;
  /** Its result waits to be recorded. This includes messages returned to the queue untried. */
  has_result: boolean;
  /** The status of its message has been set to sending. */
  is_visible: boolean;
  /** Its entry in the prerender queue. */
  prerendered: Prerendered | null;
  /** The prerendered bytes until they are sent. */
  made: Promise<unknown> | null;
}

/** Creates an entry for a delivery claimed by a statement that began at this time. */
export function newInFlight(claimed: Claimed, candidate: Candidate | null, asked_ms: number): InFlight {
  return {
    claimed,
    lane: candidate?.lane ?? NO_LANE,
    candidate,
    started: Number.POSITIVE_INFINITY,
    abort: new AbortController(),
    lease_ends: leaseEnd(asked_ms),
    has_connection: false,
    content_slot: null,
    has_result: false,
    is_visible: false,
    prerendered: null,
    made: null,
    index: -1,
  };
}
