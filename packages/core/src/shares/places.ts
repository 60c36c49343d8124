import type { SharePlaces } from '../process/metric-catalogue.ts';
import type { Metrics } from '../process/metrics.ts';

export interface PlacesBounds {
  readonly places: number;
  readonly own_places: number;
  /** Of the places, what only an owner that has none can get. */
  readonly reserve: number;
}

/** Places that owners share, such as connections or bytes. No owner can take the reserve from the others. */
export class Places {
  readonly #bounds: PlacesBounds;
  readonly #onRejected: () => void;
  readonly #taken = new Map<string, number>();
  #all = 0;

  constructor(bounds: PlacesBounds, onRejected: () => void = () => undefined) {
    this.#bounds = bounds;
    this.#onRejected = onRejected;
  }

  /** Whether there were so many places left; if so, they are taken. */
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

  /** All places are free again, as at the start of a minute. */
  reset(): void {
    this.#taken.clear();
    this.#all = 0;
  }
}

/** Counts what these places reject. */
export function countRejected(metrics: Pick<Metrics, 'count'>, places: SharePlaces): () => void {
  return () => metrics.count('share_rejected_total', [places, 'full']);
}
