import type { ClaimQuota, EndpointLease } from '@postrider/core/webhooks';

export type { ClaimQuota, EndpointLease };

/** An ended lease, and whether nothing was claimed under it. */
export interface EndedLease extends EndpointLease {
  readonly idle: boolean;
}

/** `unsent`: the delivery is handed back, and the endpoint has not been contacted or its response is unknown. */
export type PostResult = 'accepted' | 'failed' | 'unsent';

export interface EndedPost<T> {
  /** True for a failure that does not count, because a post that began later succeeded. */
  readonly outdated: boolean;
  /** The waiting deliveries of a failing endpoint, for the caller to return to the queue. */
  readonly dropped: readonly T[];
}

// Concurrent posts to one endpoint. A slow endpoint that succeeds gets as many slots as it needs, and a failing
// endpoint yields its slots to others.
const FIRST_PLACES = 4;
const MIN_PLACES = 1;
const MAX_PLACES = 32;
// The weight of the last result in the share of successes: about the last eight results count.
const RESULT_WEIGHT = 1 / 8;
const FAILING_BELOW = 0.5;
// Deliveries are claimed ahead, as many as the endpoint recently accepted in half a second. Otherwise a fast endpoint
// would wait for each claim, and a slow endpoint would hold deliveries after it is disabled.
const PERIOD_MS = 500;
const FIRST_AHEAD = 4;
const MAX_AHEAD = 100;
// After at most this long, nothing more is claimed under a lease, so that it ends and another worker, or an endpoint
// behind many long queues, gets a turn.
const LEASE_MS = 5000;
// Each lease ends earlier by a random part of its time, up to this share, so that leases that begin together don't end
// together and leave the worker nothing to post.
const LEASE_SPREAD = 0.6;
// If posts keep the lease from ending for this long, claims resume, unless endpoints wait for a lease of this worker:
// the other deliveries must not wait for a post that hangs.
const END_WITHIN_MS = 1000;

interface Lane<T> {
  /** Deliveries that are claimed but not posted yet. */
  readonly waiting: T[];
  posting: number;
  /** How many deliveries may be posted concurrently. */
  places: number;
  /** Deliveries that are claimed but not recorded yet. */
  claimed_count: number;
  /** The share of successes among recent results, from 0 to 1. */
  successes: number;
  /** When the last post that succeeded began. */
  succeeded_at: number;
  period: number;
  taken: number;
  taken_before: number;
  /** Null if another worker has the endpoint lease. */
  lease: EndpointLease | null;
  /** Until when deliveries are claimed under the lease. */
  claims_until: number;
  /** True if there may be due deliveries that are not claimed yet. */
  wants: boolean;
  /** True while a claim for the endpoint is in progress. */
  asking: boolean;
  /** True if nothing was claimed under this lease. */
  idle: boolean;
}

/** The endpoints leased by this worker, and the number of deliveries to claim for each. Performs no I/O. */
export class EndpointLanes<T> {
  readonly #now: () => number;
  readonly #isFull: () => boolean;
  readonly #random: () => number;
  readonly #lanes = new Map<string, Lane<T>>();
  #claimed = 0;
  #closed = false;

  /** `isFull` returns whether other endpoints may have to wait for the leases of this worker to end. */
  constructor(now: () => number, isFull: () => boolean, random: () => number) {
    this.#now = now;
    this.#isFull = isFull;
    this.#random = random;
  }

  /**
   * Begins a lease: the endpoint belongs to this worker until the lease ends. Returns the lease of this worker that it
   * replaces, which had expired unnoticed; null if there is none.
   */
  begin(lease: EndpointLease): EndpointLease | null {
    const lane = this.#laneOf(lease.webhook_id);
    const replaced = lane.lease;
    lane.lease = lease;
    lane.claims_until = this.#now() + LEASE_MS * (1 - LEASE_SPREAD * this.#random());
    lane.wants = true;
    lane.idle = true;
    return replaced;
  }

  /** Marks an endpoint, or all of them, as having due deliveries. */
  markDue(webhook_id?: string): void {
    if (webhook_id === undefined) for (const lane of this.#lanes.values()) lane.wants = true;
    else {
      const lane = this.#lanes.get(webhook_id);
      if (lane) lane.wants = true;
    }
  }

  /** Returns the quotas of the next claim. The caller must pass the result for each endpoint in them to `claimed`. */
  ask(free: number): readonly ClaimQuota[] {
    this.#forgetIdle();
    const share = Math.max(FIRST_PLACES, Math.floor(free / Math.max(1, this.#lanes.size)));
    let remaining = free;
    const is_full = this.#isFull();
    const quotas: ClaimQuota[] = [];
    for (const [webhook_id, lane] of this.#lanes) {
      if (lane.lease === null || !lane.wants || lane.asking || this.#isOver(lane, is_full)) continue;
      const count = Math.min(this.#windowOf(lane) - lane.claimed_count, share, remaining);
      if (count <= 0) continue;
      lane.wants = false;
      lane.asking = true;
      remaining -= count;
      quotas.push({ webhook_id, holder: lane.lease.holder, count });
    }
    return quotas;
  }

  /** Accepts the result of a claim. Every delivery in the result must be settled. */
  claimed(id: string, posts: readonly T[], count: number, limit: number): void {
    const lane = this.#laneOf(id);
    lane.asking = false;
    lane.waiting.push(...posts);
    lane.claimed_count += count;
    this.#claimed += count;
    if (count > 0) lane.idle = false;
    if (count >= limit) lane.wants = true;
  }

  /** Takes the deliveries that may be posted to an endpoint now. */
  start(id: string): readonly T[] {
    const lane = this.#laneOf(id);
    const started = lane.waiting.splice(0, Math.max(0, lane.places - lane.posting));
    lane.posting += started.length;
    return started;
  }

  /**
   * Ends a post. A failure of a post that began before the last one that succeeded says nothing about the endpoint now:
   * posts that hang fail ten seconds later. A few failures among successes do not reduce the slots either, because posts
   * that hang would then occupy all of them.
   */
  ended(id: string, result: PostResult, began_at: number): EndedPost<T> {
    const lane = this.#laneOf(id);
    lane.posting -= 1;
    if (result === 'unsent') return { outdated: false, dropped: [] };
    const is_accepted = result === 'accepted';
    if (!is_accepted && began_at < lane.succeeded_at) return { outdated: true, dropped: [] };
    lane.successes += (Number(is_accepted) - lane.successes) * RESULT_WEIGHT;
    if (is_accepted) {
      lane.succeeded_at = Math.max(lane.succeeded_at, began_at);
      if (lane.waiting.length > 0) lane.places = Math.min(MAX_PLACES, lane.places + 1);
      this.#roll(lane);
      lane.taken += 1;
    } else if (isFailing(lane)) {
      lane.places = Math.max(MIN_PLACES, Math.floor(lane.places / 2));
      return { outdated: false, dropped: lane.waiting.splice(0) };
    }
    return { outdated: false, dropped: [] };
  }

  /** Releases the claim of a delivery whose result was recorded, or that was returned to the queue. */
  settled(id: string): void {
    this.#laneOf(id).claimed_count -= 1;
    this.#claimed -= 1;
  }

  /** Removes and returns the deliveries that wait for an endpoint. */
  drop(id: string): readonly T[] {
    return this.#lanes.get(id)?.waiting.splice(0) ?? [];
  }

  /**
   * Ends the leases of endpoints that have nothing left except the results being recorded, and returns these leases.
   */
  release(recording: ReadonlyMap<string, number>): readonly EndedLease[] {
    const leases: EndedLease[] = [];
    const is_full = this.#isFull();
    for (const [id, lane] of this.#lanes) {
      if (lane.lease === null || lane.asking || lane.claimed_count > (recording.get(id) ?? 0)) continue;
      if (lane.wants && !this.#isOver(lane, is_full)) continue;
      leases.push({ ...lane.lease, idle: lane.idle && !this.#closed });
      lane.lease = null;
    }
    return leases;
  }

  /** Drops a lease that another worker has taken. */
  lose(lease: EndpointLease): void {
    const lane = this.#lanes.get(lease.webhook_id);
    if (lane?.lease === lease) lane.lease = null;
  }

  /** Ends all leases as soon as possible, even if deliveries are due. */
  close(): void {
    this.#closed = true;
  }

  /** Returns whether an endpoint with due deliveries has half of its window free. */
  hungry(): boolean {
    const is_full = this.#isFull();
    for (const lane of this.#lanes.values()) {
      if (lane.lease === null || !lane.wants || lane.asking || this.#isOver(lane, is_full)) continue;
      if (lane.claimed_count <= this.#windowOf(lane) / 2) return true;
    }
    return false;
  }

  /** Returns the endpoints that have claimed deliveries here. */
  ids(): readonly string[] {
    return [...this.#lanes].flatMap(([id, lane]) => (lane.claimed_count > 0 ? [id] : []));
  }

  leases(): readonly EndpointLease[] {
    return [...this.#lanes.values()].flatMap(({ lease }) => (lease === null ? [] : [lease]));
  }

  claimedCount(): number {
    return this.#claimed;
  }

  #laneOf(id: string): Lane<T> {
    let lane = this.#lanes.get(id);
    if (!lane) {
      lane = {
        waiting: [],
        posting: 0,
        places: FIRST_PLACES,
        claimed_count: 0,
        successes: 1,
        succeeded_at: Number.NEGATIVE_INFINITY,
        period: 0,
        taken: 0,
        taken_before: 0,
        lease: null,
        claims_until: 0,
        wants: false,
        asking: false,
        idle: true,
      };
      this.#lanes.set(id, lane);
    }
    return lane;
  }

  #roll(lane: Lane<T>): void {
    const period = Math.floor(this.#now() / PERIOD_MS);
    if (period === lane.period) return;
    lane.taken_before = period === lane.period + 1 ? lane.taken : 0;
    lane.taken = 0;
    lane.period = period;
  }

  /** Returns how many deliveries of an endpoint may be claimed at a time. */
  #windowOf(lane: Lane<T>): number {
    if (isFailing(lane)) return lane.places;
    this.#roll(lane);
    const recent = Math.max(lane.taken, lane.taken_before);
    return lane.places + Math.min(MAX_AHEAD, Math.max(FIRST_AHEAD, recent));
  }

  #forgetIdle(): void {
    for (const [id, lane] of this.#lanes) {
      const as_new = isFailing(lane) || this.#windowOf(lane) === lane.places + FIRST_AHEAD;
      if (lane.lease === null && lane.claimed_count === 0 && as_new) this.#lanes.delete(id);
    }
  }

  #isOver(lane: Lane<T>, is_full: boolean): boolean {
    if (this.#closed) return true;
    const late_ms = this.#now() - lane.claims_until;
    if (late_ms <= 0) return false;
    return late_ms % (LEASE_MS + END_WITHIN_MS) < END_WITHIN_MS || is_full;
  }
}

function isFailing(lane: { readonly successes: number }): boolean {
  return lane.successes < FAILING_BELOW;
}
