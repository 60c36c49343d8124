import type { SharePlaces } from '../process/metric-catalogue.ts';
import type { Metrics } from '../process/metrics.ts';

export interface PlacesBounds {
  readonly places: number;
  readonly own_places: number;
  /** The number of places reserved for owners that have none. */
  readonly reserve: number;
}

/** Places that owners share, such as connections or bytes. No single owner can use up the reserve. */
export class Places {
  readonly #bounds: PlacesBounds;
  readonly #onRejected: () => void;
  readonly #taken = new Map<string, number>();
  #all = 0;

  constructor(bounds: PlacesBounds, onRejected: () => void = () => undefined) {
    this.#bounds = bounds;
    this.#onRejected = onRejected;
  }

  /** Takes places if enough are left; returns whether they were taken. */
  take(owner: string, count = 1): boolean {
    const own = this.#taken.get(owner) ?? 0;
    const { places, own_places, reserve } = this.#bounds;
    if (own + count > own_places || this.#all + count > (own === 0 ? places : places - reserve)) {
      this.#onRejected();
      return false;
    }
    this.#taken.set(owner, own + count);
    this.#all += count;
    return true;
  }

  give(owner: string, count = 1): void {
    const own = this.#taken.get(owner) ?? 0;
    this.#all -= Math.min(own, count);
    if (own > count) this.#taken.set(owner, own - count);
    else this.#taken.delete(owner);
  }

  /** Frees all places, as at the start of a minute. */
  reset(): void {
    this.#taken.clear();
    this.#all = 0;
  }
}

/** Returns a function that counts one rejection by these places. */
export function countRejected(metrics: Pick<Metrics, 'count'>, places: SharePlaces): () => void {
  return () => metrics.count('share_rejected_total', [places, 'full']);
}
