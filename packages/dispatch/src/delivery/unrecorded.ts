import { createInFlightSet, type Indexed } from './in-flight-set.ts';

// A killed worker sends again what it had sent and not recorded, so that much may be on its way at once, and no more:
// what a settle records in 20 ms.
const AHEAD_MS = 20;
const LEAST = 8;
/** How many settles are remembered for the limit. */
const REMEMBERED = 4;
/** A server that takes longer for its answer holds up no other. */
const SLOW_MS = 50;
/** Without a settle for so long, mail that waits is better off with another worker. */
const GIVE_UP_MS = 5000;
const LOOK_MS = 10;

/** A mail whose content has begun, until its result is in the database. */
export interface ContentSlot extends Indexed {
  readonly begun_at: number;
  answered: boolean;
  counts: boolean;
}

interface Waiting {
  readonly since: number;
  give(slot: ContentSlot | null): void;
}

/** Bounds how much is sent and not recorded. It grows as settles return, to at most double with each. */
export class UnrecordedMail {
  readonly #slots = createInFlightSet<ContentSlot>();
  readonly #waiting: Waiting[] = [];
  readonly #capacities: number[] = [];
  readonly #most: number | null;
  #limit: number;
  #count = 0;
  #timer: NodeJS.Timeout | null = null;

  /** Null without a bound: for a drain, which records when it has all results. */
  constructor(most: number | null) {
    this.#most = most;
    this.#limit = most === null ? Number.POSITIVE_INFINITY : Math.min(LEAST, most);
  }

  get limit(): number {
    return this.#limit;
  }

  /** A slot, at once or as soon as there is one; null where it was aborted or nothing is being recorded. */
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
      this.#timer ??= setTimeout(this.#look, LOOK_MS);
    });
  }

  /** The server has answered, or never will. */
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
    this.#capacities.push((count * AHEAD_MS) / Math.max(1, took_ms));
    if (this.#capacities.length > REMEMBERED) this.#capacities.shift();
    const capacity = Math.max(...this.#capacities);
    if (this.#most === null) return;
    this.#limit = Math.round(Math.min(this.#most, 2 * this.#limit, Math.max(LEAST, capacity)));
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
    if (this.#waiting.length > 0) this.#timer = setTimeout(this.#look, LOOK_MS);
  };
}
