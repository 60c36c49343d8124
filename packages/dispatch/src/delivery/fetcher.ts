import type { Services } from '@postrider/core';
import { type Fetched, fetchDeliveries } from '@postrider/core/lanes';
import type { HoldCache } from '../holds/hold-cache.ts';
import type { LaneSync } from '../lanes/lane-sync.ts';
import type { Lanes } from '../lanes/lanes.ts';

// Fetch up to 200 while fewer than 600 are claimed or wait for it here.
export const FETCH_COUNT = 200;
export const MOST_IN_FLIGHT = 600;
// When fast lanes are full, their mail may stay in the queue; mail of other lanes is behind it there, so the fetcher
// looks past it this often.
const LOOK_AHEAD_MS = 100;
// If all mail goes to one relay, there is hardly any mail of other lanes. What is fetched in vain has to be parked.
const LOOK_AHEAD_ALONE_MS = 500;
const LOOK_AHEAD_ALONE_COUNT = 50;
// Wakes are hints, and none is sent for jobs that become due later, so the queue is also polled.
const POLL_MS = 500;
/** The longest time between fetches of all jobs, which find retries and scheduled mail. */
const FETCH_ALL_MS = 400;

export interface FetcherOptions {
  readonly services: Services;
  readonly holds: HoldCache;
  readonly lanes: Lanes;
  readonly sync: LaneSync;
  /** The number of claimed and not settled deliveries. */
  readonly inFlight: () => number;
  /** Jobs wait in their lanes. */
  readonly onPlaced: () => void;
}

/** Fetches due jobs while this worker has free slots: fetch → lane. */
export class Fetcher {
  readonly #options: FetcherOptions;
  /** The fetch under way; there is one at a time. */
  #fetching: Promise<void> | null = null;
  /** The queue may have more ready jobs. */
  #again = false;
  /** Fast lanes count as full until then, or until half of their waiting mail is gone. */
  #crowded_until = 0;
  #crowded_by = 0;
  /** The created_on of the newest fetched job; null if the next fetch is of all jobs. */
  #newest: Date | null = null;
  #fetched_all_at = Number.NEGATIVE_INFINITY;
  #timer: NodeJS.Timeout | null = null;
  #stopped = false;

  constructor(options: FetcherOptions) {
    this.#options = options;
  }

  /** The loop: fetches now, or notes that there is more where it cannot; then again at the next poll. */
  poll = (): void => {
    if (this.#stopped) return;
    if (this.#fetching || this.#isCrowded()) {
      this.#again = true;
      return;
    }
    if (this.#timer) clearTimeout(this.#timer);
    this.#timer = null;
    this.#again = false;
    const { services, lanes } = this.#options;
    this.#fetching = this.#fetchOnce()
      .then((more) => {
        services.vitals.fetched_at = performance.now();
        return more;
      })
      .catch((error) => {
        services.log.error({ err: error }, 'deliveries could not be fetched');
        return false;
      })
      .then((more) => {
        this.#fetching = null;
        this.#again ||= more;
        if (this.#stopped) return;
        if (this.#again && (lanes.aloneCapacity() ? this.#hasFreeSlots() : this.#freeSlots() > 0)) this.poll();
        if (!this.#fetching) this.#timer ??= setTimeout(this.poll, this.#again ? this.#lookAhead().ms : POLL_MS);
      });
  };

  /** Polls if the last fetch left jobs behind and there are enough free slots again. */
  pollIfFree(): void {
    if (this.#again && this.#hasFreeSlots()) this.poll();
  }

  /** One fetch of all due jobs, for a drain. Returns their number. */
  async fetchAll(): Promise<number> {
    const { count } = await this.#fetch(FETCH_COUNT, null);
    return count;
  }

  /** Stops polling. Resolves once the fetch in progress, if any, has finished. */
  async stop(): Promise<void> {
    this.#stopped = true;
    if (this.#timer) clearTimeout(this.#timer);
    await this.#fetching;
  }

  /** Whether there may be more than was taken. */
  async #fetchOnce(): Promise<boolean> {
    const { holds, lanes, inFlight } = this.#options;
    await holds.ready;
    if (holds.isPaused('delivery.attempt')) return false;
    // Mail within the rate is here already; onAllowance announces more.
    const allowance = holds.allowance('delivery.attempt') ?? Number.POSITIVE_INFINITY;
    if (lanes.counts().waiting > allowance + FETCH_COUNT) return false;
    if (Math.max(lanes.counts().claimed, inFlight()) >= MOST_IN_FLIGHT) return true;
    const free = this.#freeSlots();
    const count = free > 0 ? Math.min(FETCH_COUNT, free) : this.#lookAhead().count;
    const found = await this.#fetch(count, this.#madeAfter());
    if (found.count === 0) return false;
    if (found.crowding > found.count / 4) {
      this.#crowded_until = performance.now() + this.#lookAhead().ms - 1;
      this.#crowded_by = lanes.counts().waiting;
    }
    this.#options.onPlaced();
    return found.count === count;
  }

  /** Fetches jobs into their lanes; crowding is the number that might as well have stayed in the queue. */
  async #fetch(most: number, made_after: Date | null): Promise<{ readonly count: number; readonly crowding: number }> {
    const found = await fetchDeliveries(this.#options.services, most, made_after);
    if (found.length === 0) return { count: 0, crowding: 0 };
    this.#noteFound(found, made_after === null, found.length < most);
    return { count: found.length, crowding: await this.#options.sync.place(found) };
  }

  /**
   * The lower bound of created_on for the next fetch, or null for a fetch of all ready jobs. A fetched job leaves a
   * dead index entry until the next vacuum, so fetches of a busy queue would scan more and more of them.
   */
  #madeAfter(): Date | null {
    const now = performance.now();
    if (this.#newest && now - this.#fetched_all_at < FETCH_ALL_MS) return this.#newest;
    this.#fetched_all_at = now;
    return null;
  }

  /** A fetch of all jobs that found more than it took goes on from there, however old that is. */
  #noteFound(found: readonly Fetched[], of_all_jobs: boolean, took_all: boolean): void {
    if (of_all_jobs && !took_all) this.#newest = null;
    for (const { created_on } of found) if (!this.#newest || created_on > this.#newest) this.#newest = created_on;
  }

  #lookAhead(): { readonly ms: number; readonly count: number } {
    return this.#options.lanes.isAlone()
      ? { ms: LOOK_AHEAD_ALONE_MS, count: LOOK_AHEAD_ALONE_COUNT }
      : { ms: LOOK_AHEAD_MS, count: FETCH_COUNT };
  }

  /** Until it is time to look ahead, or half of those that wait here have gone. */
  #isCrowded(): boolean {
    return performance.now() < this.#crowded_until && this.#options.lanes.counts().waiting * 2 > this.#crowded_by;
  }

  /** How many more jobs may wait for a claim here. Mail whose result is being recorded still takes a slot. */
  #freeSlots(): number {
    const { lanes, inFlight } = this.#options;
    const { claimed, waiting } = lanes.counts();
    const free = MOST_IN_FLIGHT - Math.max(claimed, inFlight()) - waiting;
    return Math.min(free, lanes.aloneCapacity()?.free ?? free);
  }

  /** Whether enough slots are free for a fetch that is worth its cost. */
  #hasFreeSlots(): boolean {
    return this.#freeSlots() > Math.min(FETCH_COUNT, this.#options.lanes.aloneCapacity()?.most ?? FETCH_COUNT) / 2;
  }
}
