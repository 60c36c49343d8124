import { MAX_SETTLING } from './batching-policy.ts';
import { createInFlightSet, type Indexed } from './in-flight-set.ts';

// A message that was sent but not recorded is sent again if the worker is killed. The number of these messages is
// therefore limited to the number that the concurrent settles record in 20 ms.
const AHEAD_MS = 20;
const MIN_LIMIT = 8;
/** The number of recent settles that the limit is derived from. */
const REMEMBERED = 4;
/** A message whose reply takes longer than this no longer counts, so that a slow server does not delay others. */
const SLOW_MS = 50;
/** After this long without a settle, waiting messages are returned to the queue for other workers. */
const GIVE_UP_MS = 5000;
const POLL_MS = 10;

/** Held for a message from before its first byte of content until its result is in the database. */
export interface ContentSlot extends Indexed {
  readonly begun_at: number;
  answered: boolean;
  counts: boolean;
}

interface Waiting {
  readonly since: number;
  give(slot: ContentSlot | null): void;
}

/**
 * Limits how many messages are sent but not recorded. The limit follows the rate of settles, and at most doubles with
 * each settle.
 */
export class UnrecordedMail {
  readonly #slots = createInFlightSet<ContentSlot>();
  readonly #waiting: Waiting[] = [];
  readonly #capacities: number[] = [];
  readonly #most: number | null;
  #limit: number;
  #count = 0;
  #timer: NodeJS.Timeout | null = null;

  /** Null means no limit: a drain records once it has all results. */
  constructor(max: number | null) {
    this.#most = max;
    this.#limit = max === null ? Number.POSITIVE_INFINITY : Math.min(MIN_LIMIT, max);
  }

  get limit(): number {
    return this.#limit;
  }

  /**
   * Returns the maximum number of messages that would be sent again if the worker were killed now: the limit, plus slow
   * messages that no longer count toward it.
   */
  get most(): number {
    return Math.max(this.#limit, this.#count) + this.#slots.size - this.#count;
  }

  /**
   * Takes a slot or waits for one. Returns null if the signal was aborted, or if nothing has been recorded for too
   * long.
   */
  take(signal: AbortSignal): ContentSlot | Promise<ContentSlot | null> {
    if (this.#waiting.length === 0 && this.#hasFreeSlot()) return this.#begin();
    return new Promise((resolve) => {
      const waiting: Waiting = {
        since: performance.now(),
        give: (slot) => {
          signal.removeEventListener('abort', onAbort);
          resolve(slot);
        },
      };
      const onAbort = () => {
        this.#waiting.splice(this.#waiting.indexOf(waiting), 1);
        resolve(null);
      };
      signal.addEventListener('abort', onAbort, { once: true });
      this.#waiting.push(waiting);
      this.#timer ??= setTimeout(this.#look, POLL_MS);
    });
  }

  /** Marks a slot as answered once the server has replied or can no longer reply. */
  answered(slot: ContentSlot): void {
    slot.answered = true;
    if (slot.counts) return;
    slot.counts = true;
    this.#count += 1;
  }

  recorded(slot: ContentSlot): void {
    this.#slots.remove(slot);
    if (slot.counts) this.#count -= 1;
    slot.counts = false;
    this.#next();
  }

  noteSettle(count: number, took_ms: number): void {
    this.#capacities.push((MAX_SETTLING * count * AHEAD_MS) / Math.max(1, took_ms));
    if (this.#capacities.length > REMEMBERED) this.#capacities.shift();
    const capacity = Math.max(...this.#capacities);
    if (this.#most === null) return;
    this.#limit = Math.round(Math.min(this.#most, 2 * this.#limit, Math.max(MIN_LIMIT, capacity)));
  }

  #begin(): ContentSlot {
    const slot = { begun_at: performance.now(), answered: false, counts: true, index: -1 };
    this.#slots.add(slot);
    this.#count += 1;
    return slot;
  }

  #hasFreeSlot(): boolean {
    if (this.#count < this.#limit) return true;
    const slow_before = performance.now() - SLOW_MS;
    for (const slot of this.#slots) {
      if (!slot.counts || slot.answered || slot.begun_at > slow_before) continue;
      slot.counts = false;
      this.#count -= 1;
    }
    return this.#count < this.#limit;
  }

  #next(): void {
    while (this.#waiting.length > 0 && this.#hasFreeSlot()) this.#waiting.shift()?.give(this.#begin());
  }

  readonly #look = (): void => {
    this.#timer = null;
    this.#next();
    const too_long = performance.now() - GIVE_UP_MS;
    while (this.#waiting[0] && this.#waiting[0].since < too_long) this.#waiting.shift()?.give(null);
    if (this.#waiting.length > 0) this.#timer = setTimeout(this.#look, POLL_MS);
  };
}
