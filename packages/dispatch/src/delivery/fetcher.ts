import type { Services } from '@postrider/core';
import { reachStep } from '@postrider/core/delivery';
import { type Fetched, fetchDeliveries, type WantedMail } from '@postrider/core/lanes';
import { type Priority, priorities } from '@postrider/core/priorities';
import type { HoldCache } from '../holds/hold-cache.ts';
import type { LaneSync } from '../lanes/lane-sync.ts';
import type { Lanes } from '../lanes/lanes.ts';

// A fetch takes up to 200 jobs, as long as fewer than 600 are claimed or waiting for a claim here.
export const FETCH_COUNT = 200;
export const MAX_IN_FLIGHT = 600;
// When fast lanes are full, their jobs may stay in the queue. Jobs of other lanes are queued behind those jobs, so the
// fetcher looks past the full lanes at this interval.
const LOOKAHEAD_MS = 100;
// If all messages go to one relay, there are hardly any jobs of other lanes, and jobs fetched in vain have to be
// parked.
const LONE_LOOKAHEAD_MS = 500;
const LONE_LOOKAHEAD_COUNT = 50;
// Wakes are hints, and no wake is sent for jobs that become due later, so the queue is also polled.
const POLL_MS = 500;
/** The longest time between fetches of all jobs, which find retries and scheduled messages. */
const FETCH_ALL_MS = 400;

export interface FetcherOptions {
  readonly services: Services;
  readonly holds: HoldCache;
  readonly lanes: Lanes;
  readonly sync: LaneSync;
  /** The number of deliveries that are claimed but not settled. */
  readonly inFlight: () => number;
  /** Called when fetched jobs wait in their lanes. */
  readonly onPlaced: () => void;
  /** Called when a fetch failed that may nevertheless have been committed. */
  readonly onLost: () => void;
}

/** The fetcher's knowledge of the due jobs of one priority. */
interface Supply {
  /** The queue may have more ready jobs. */
  again: boolean;
  /** Fast lanes count as full until this time, or until half of their waiting jobs are claimed. */
  crowded_until: number;
  crowded_by: number;
  /** The created_on of the newest fetched job; null if the next fetch should read all jobs. */
  newest: Date | null;
  fetched_all_at: number;
}

function newSupply(): Supply {
  return { again: false, crowded_until: 0, crowded_by: 0, newest: null, fetched_all_at: Number.NEGATIVE_INFINITY };
}

/**
 * Fetches due jobs while this worker has free slots: fetch → lane. Each priority has its own slots, so that a backlog
 * of bulk email does not keep anything else in the queue.
 */
export class Fetcher {
  readonly #options: FetcherOptions;
  /** The current fetch. Only one runs at a time. */
  #fetching: Promise<void> | null = null;
  readonly #supplies: Readonly<Record<Priority, Supply>> = {
    high: newSupply(),
    normal: newSupply(),
    bulk: newSupply(),
  };
  #timer: NodeJS.Timeout | null = null;
  #stopped = false;

  constructor(options: FetcherOptions) {
    this.#options = options;
  }

  /** The loop: fetches now, or remembers to fetch again; then repeats at the next poll. */
  poll = (): void => {
    if (this.#stopped) return;
    const available = this.#fetching ? [] : priorities.filter((priority) => !this.#isCrowded(priority));
    for (const priority of priorities) this.#supplies[priority].again = !available.includes(priority);
    if (available.length === 0) return;
    if (this.#timer) clearTimeout(this.#timer);
    this.#timer = null;
    const { services, lanes } = this.#options;
    this.#fetching = this.#fetchOnce(available)
      .then((rest) => {
        services.vitals.fetched_at = performance.now();
        return rest;
      })
      .catch((error): Priority[] => {
        services.log.error({ err: error }, 'failed to fetch deliveries');
        this.#options.onLost();
        return [];
      })
      .then((rest) => {
        this.#fetching = null;
        for (const priority of rest) this.#supplies[priority].again = true;
        if (this.#stopped) return;
        const remaining = priorities.filter((priority) => this.#supplies[priority].again);
        if (remaining.some((one) => (lanes.aloneCapacity(one) ? this.#hasFreeSlots(one) : this.#freeSlots(one) > 0)))
          this.poll();
        if (!this.#fetching)
          this.#timer ??= setTimeout(this.poll, remaining.length > 0 ? this.#lookAhead().ms : POLL_MS);
      });
  };

  /** Polls if the last fetch left jobs behind and enough slots are free again. */
  pollIfFree(): void {
    if (priorities.some((priority) => this.#supplies[priority].again && this.#hasFreeSlots(priority))) this.poll();
  }

  /** Fetches due jobs once, for a drain, and returns how many it fetched. */
  async fetchAll(): Promise<number> {
    const all = priorities.map((priority) => ({ priority, count: FETCH_COUNT, created_after: null }));
    const { batch } = await this.#fetch(all);
    return batch.length;
  }

  /** Stops polling. Resolves once any fetch in progress has finished. */
  async stop(): Promise<void> {
    this.#stopped = true;
    if (this.#timer) clearTimeout(this.#timer);
    await this.#fetching;
  }

  /** Returns the priorities that may have more jobs than were fetched. */
  async #fetchOnce(open: readonly Priority[]): Promise<readonly Priority[]> {
    const { holds, lanes, inFlight } = this.#options;
    await holds.ready;
    if (holds.isPaused('delivery.attempt')) return [];
    // Jobs within the allowance have already been fetched; onAllowance announces more. Each priority is counted
    // separately, so that bulk email waiting here does not keep high-priority email in the queue.
    const allowance = holds.allowance('delivery.attempt') ?? Number.POSITIVE_INFINITY;
    const eligible = open.filter((priority) => lanes.waitingOf(priority) <= allowance + FETCH_COUNT);
    if (eligible.length === 0) return [];
    if (Math.max(lanes.counts().claimed, inFlight()) >= MAX_IN_FLIGHT) return eligible;
    const requests = eligible.map((priority) => {
      const free = this.#freeSlots(priority);
      const count = free > 0 ? Math.min(FETCH_COUNT, free) : this.#lookAhead().count;
      return { priority, count, created_after: this.#madeAfter(priority) };
    });
    const { batch, crowding } = await this.#fetch(requests);
    if (batch.length === 0) return [];
    for (const priority of new Set(crowding)) {
      if (countOf(crowding, priority) <= countOf(batch, priority) / 4) continue;
      const supply = this.#supplies[priority];
      supply.crowded_until = performance.now() + this.#lookAhead().ms - 1;
      supply.crowded_by = lanes.waitingOf(priority);
    }
    this.#options.onPlaced();
    return requests.flatMap(({ priority, count }) => (countOf(batch, priority) === count ? [priority] : []));
  }

  /**
   * Fetches jobs into their lanes. `batch` lists the priorities of the fetched jobs, and `crowding` those of jobs that
   * could have stayed in the queue.
   */
  async #fetch(
    requests: readonly WantedMail[],
  ): Promise<{ readonly batch: readonly Priority[]; readonly crowding: readonly Priority[] }> {
    const fetched = await fetchDeliveries(this.#options.services, requests);
    if (fetched.length === 0) return { batch: [], crowding: [] };
    for (const { job } of fetched) reachStep('fetched', job.data.message_id);
    for (const request of requests) this.#noteFound(request, fetched);
    return { batch: fetched.map(({ priority }) => priority), crowding: await this.#options.sync.place(fetched) };
  }

  /**
   * Returns the lower bound of created_on for the next fetch, or null to fetch all ready jobs. Each fetched job leaves
   * a dead index entry until the next vacuum, so without the bound, fetches of a busy queue would scan more and more of
   * them.
   */
  #madeAfter(priority: Priority): Date | null {
    const now = performance.now();
    const supply = this.#supplies[priority];
    if (supply.newest && now - supply.fetched_all_at < FETCH_ALL_MS) return supply.newest;
    supply.fetched_all_at = now;
    return null;
  }

  /**
   * If a fetch of all jobs found more than it took, the next fetch continues there, regardless of the age of those
   * jobs.
   */
  #noteFound({ priority, count, created_after }: WantedMail, fetched: readonly Fetched[]): void {
    const supply = this.#supplies[priority];
    const batch = fetched.filter((one) => one.priority === priority);
    if (created_after === null && batch.length === count) supply.newest = null;
    for (const { created_on } of batch) if (!supply.newest || created_on > supply.newest) supply.newest = created_on;
  }

  #lookAhead(): { readonly ms: number; readonly count: number } {
    return this.#options.lanes.isAlone()
      ? { ms: LONE_LOOKAHEAD_MS, count: LONE_LOOKAHEAD_COUNT }
      : { ms: LOOKAHEAD_MS, count: FETCH_COUNT };
  }

  /** Returns true until it is time to look ahead, or until half of the jobs that wait here are claimed. */
  #isCrowded(priority: Priority): boolean {
    const { crowded_until, crowded_by } = this.#supplies[priority];
    return performance.now() < crowded_until && this.#options.lanes.waitingOf(priority) * 2 > crowded_by;
  }

  /**
   * Returns how many more jobs of a priority may wait for a claim here. A message whose result is being recorded uses a
   * slot.
   */
  #freeSlots(priority: Priority): number {
    const { lanes, inFlight } = this.#options;
    const free = MAX_IN_FLIGHT - Math.max(lanes.counts().claimed, inFlight()) - lanes.waitingOf(priority);
    return Math.min(free, lanes.aloneCapacity(priority)?.free ?? free);
  }

  /** Returns whether enough slots are free to make a fetch worthwhile. */
  #hasFreeSlots(priority: Priority): boolean {
    const max = this.#options.lanes.aloneCapacity(priority)?.most ?? FETCH_COUNT;
    return this.#freeSlots(priority) > Math.min(FETCH_COUNT, max) / 2;
  }
}

function countOf(list: readonly Priority[], priority: Priority): number {
  return list.filter((one) => one === priority).length;
}
