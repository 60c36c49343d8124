import type { SharedLine } from '../operation/ports.ts';
import type { ShareLine } from '../process/metric-catalogue.ts';
import type { Metrics } from '../process/metrics.ts';

export interface LineBounds {
  /** What can be held together, such as bytes or threads. */
  readonly units: number;
  /** What one workspace can hold. */
  readonly own_units: number;
  /** Of the units, what only a workspace that holds nothing can get. */
  readonly reserve: number;
  readonly max_waiting: number;
  /** How many of one workspace can wait. */
  readonly max_own_waiting: number;
  readonly max_wait_ms: number;
}

/** Why a line turned someone away. */
export type ShareReason = 'full' | 'timeout' | 'stopped';

/** The line is full, or the wait was too long. */
export class ShareRejected extends Error {
  readonly reason: ShareReason;

  constructor(line: ShareLine, reason: ShareReason) {
    super(`the line ${line} rejected a place: ${reason}`);
    this.reason = reason;
  }
}

interface Waiting {
  readonly owner: string;
  readonly units: number;
  admit(): void;
  reject(reason: ShareReason): void;
}

/**
 * A line before something that workspaces share. Workspaces take turns, whatever each has waiting, and both what one
 * holds and what one has waiting are bounded, so that none can keep the others out.
 */
export class FairLine implements SharedLine {
  readonly #line: ShareLine;
  readonly #bounds: LineBounds;
  readonly #metrics: Pick<Metrics, 'count' | 'shift'>;
  /** In the order of their turns. */
  readonly #waiting = new Map<string, Waiting[]>();
  readonly #held = new Map<string, number>();
  #used = 0;
  #length = 0;
  #stopped = false;

  constructor(line: ShareLine, bounds: LineBounds, metrics: Pick<Metrics, 'count' | 'shift'>) {
    this.#line = line;
    this.#bounds = bounds;
    this.#metrics = metrics;
  }

  /** Waits for a turn; call the returned function to leave. Rejects with ShareRejected, or when the signal aborts. */
  enter(owner: string, units = 1, signal?: AbortSignal): Promise<() => void> {
    const { promise, resolve, reject } = Promise.withResolvers<() => void>();
    const end = () => {
      clearTimeout(timer);
      signal?.removeEventListener('abort', onAbort);
    };
    const waiting: Waiting = {
      owner,
      units,
      admit: () => {
        end();
        resolve(this.#leaver(owner, units));
      },
      reject: (reason) => {
        end();
        this.#metrics.count('share_rejected_total', [this.#line, reason]);
        reject(new ShareRejected(this.#line, reason));
      },
    };
    const onAbort = () => {
      end();
      this.#remove(waiting);
      reject(signal?.reason);
      this.#next();
    };
    let timer: NodeJS.Timeout | undefined;
    if (this.#stopped) waiting.reject('stopped');
    else if (signal?.aborted) onAbort();
    else {
      this.#push(waiting);
      this.#next();
      const own = this.#waiting.get(owner) ?? [];
      if (own.includes(waiting)) {
        if (own.length > this.#bounds.max_own_waiting || this.#length > this.#bounds.max_waiting) {
          this.#remove(waiting);
          waiting.reject('full');
        } else {
          signal?.addEventListener('abort', onAbort, { once: true });
          timer = setTimeout(() => {
            this.#remove(waiting);
            waiting.reject('timeout');
            this.#next();
          }, this.#bounds.max_wait_ms).unref();
        }
      }
    }
    return promise;
  }

  /** For what waits somewhere else: whether there is room now. */
  hasRoom(owner: string, units: number): boolean {
    if (this.#stopped || !this.#hasShareLeft({ owner, units })) return false;
    return this.#used === 0 || this.#used + units <= this.#bounds.units;
  }

  /** Takes room that hasRoom has shown; call the returned function to leave. */
  take(owner: string, units: number): () => void {
    this.#change(owner, units);
    return this.#leaver(owner, units);
  }

  stop(): void {
    this.#stopped = true;
    for (const waiting of [...this.#waiting.values()].flat()) {
      this.#remove(waiting);
      waiting.reject('stopped');
    }
  }

  #leaver(owner: string, units: number): () => void {
    let has_left = false;
    return () => {
      if (has_left) return;
      has_left = true;
      this.#change(owner, -units);
      this.#next();
    };
  }

  /**
   * Admits in turns. A workspace whose own share is used up is passed over; one whose turn it is and that needs more room
   * than there is now is waited for.
   */
  #next(): void {
    for (let admitted = true; admitted; ) {
      admitted = false;
      for (const [owner, queue] of this.#waiting) {
        const [first] = queue;
        if (!first || !this.#hasShareLeft(first)) continue;
        if (this.#used > 0 && this.#used + first.units > this.#bounds.units) break;
        this.#remove(first);
        // The turn of the others comes first now.
        const rest = this.#waiting.get(owner);
        if (rest) {
          this.#waiting.delete(owner);
          this.#waiting.set(owner, rest);
        }
        this.#change(owner, first.units);
        first.admit();
        admitted = true;
        break;
      }
    }
  }

  /** What alone is larger than a share gets in when its workspace holds nothing. */
  #hasShareLeft({ owner, units }: Pick<Waiting, 'owner' | 'units'>): boolean {
    const own = this.#held.get(owner) ?? 0;
    if (own === 0) return true;
    const { own_units, units: total, reserve } = this.#bounds;
    return own + units <= own_units && this.#used + units <= total - reserve;
  }

  #push(waiting: Waiting): void {
    const own = this.#waiting.get(waiting.owner) ?? [];
    own.push(waiting);
    this.#waiting.set(waiting.owner, own);
    this.#length += 1;
    this.#metrics.shift('share_waiting', [this.#line], 1);
  }

  #remove(waiting: Waiting): void {
    const own = this.#waiting.get(waiting.owner);
    const place = own?.indexOf(waiting) ?? -1;
    if (!own || place < 0) return;
    own.splice(place, 1);
    if (own.length === 0) this.#waiting.delete(waiting.owner);
    this.#length -= 1;
    this.#metrics.shift('share_waiting', [this.#line], -1);
  }

  #change(owner: string, units: number): void {
    this.#used += units;
    const own = (this.#held.get(owner) ?? 0) + units;
    if (own === 0) this.#held.delete(owner);
    else this.#held.set(owner, own);
  }
}
