import type { SharedLine } from '../operation/ports.ts';
import type { ShareLine } from '../process/metric-catalogue.ts';
import type { Metrics } from '../process/metrics.ts';

export interface LineBounds {
  /** The total that can be in use, such as bytes or threads. */
  readonly units: number;
  /** The most that one workspace can use. */
  readonly own_units: number;
  /** The number of units reserved for workspaces that hold none. */
  readonly reserve: number;
  readonly max_waiting: number;
  /** How many entries of one workspace can wait. */
  readonly max_own_waiting: number;
  readonly max_wait_ms: number;
}

/** Why an entry was rejected. */
export type ShareReason = 'full' | 'timeout' | 'stopped';

/** The queue is full, or the wait was too long. */
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
 * A queue for a resource that workspaces share. Admission is round-robin across workspaces, and both the units in use
 * and the waiting entries are limited per workspace, so that no workspace can block the others.
 */
export class FairLine implements SharedLine {
  readonly #line: ShareLine;
  readonly #bounds: LineBounds;
  readonly #metrics: Pick<Metrics, 'count' | 'shift'>;
  /** The waiting entries by workspace, in round-robin order. */
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

  /**
   * Waits for a turn; call the returned function to release it. Rejects with ShareRejected, or when the signal aborts.
   */
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

  /** Returns whether there is room now, for callers that wait elsewhere. */
  hasRoom(owner: string, units: number): boolean {
    if (this.#stopped || !this.#hasShareLeft({ owner, units })) return false;
    return this.#used === 0 || this.#used + units <= this.#bounds.units;
  }

  /** Takes room after hasRoom returned true; call the returned function to release it. */
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
   * Admits entries round-robin across workspaces. Skips a workspace that has used up its share. If the next entry does
   * not fit yet, waits until there is room for it.
   */
  #next(): void {
    for (let admitted = true; admitted; ) {
      admitted = false;
      for (const [owner, queue] of this.#waiting) {
        const [first] = queue;
        if (!first || !this.#hasShareLeft(first)) continue;
        if (this.#used > 0 && this.#used + first.units > this.#bounds.units) break;
        this.#remove(first);
        // The other workspaces go first now.
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

  /** An entry larger than a share is admitted when its workspace holds nothing. */
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
