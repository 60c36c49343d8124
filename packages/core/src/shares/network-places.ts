import { addressSubject } from '../usage/index.ts';

export interface PlacesBounds {
  readonly places: number;
  readonly own_places: number;
  /** Of the places, what only a network that has none can get. */
  readonly reserve: number;
}

/**
 * Places for strangers, by their network: the address, and for IPv6 its /64. No network can take the reserve from the
 * others, however many of its addresses ask.
 */
export class NetworkPlaces {
  readonly #bounds: PlacesBounds;
  readonly #taken = new Map<string, number>();
  #all = 0;

  constructor(bounds: PlacesBounds) {
    this.#bounds = bounds;
  }

  /** Whether there were so many places left; if so, they are taken. */
  take(address: string, count = 1): boolean {
    const network = addressSubject(address);
    const own = this.#taken.get(network) ?? 0;
    const { places, own_places, reserve } = this.#bounds;
    if (own + count > own_places || this.#all + count > (own === 0 ? places : places - reserve)) return false;
    this.#taken.set(network, own + count);
    this.#all += count;
    return true;
  }

  give(address: string, count = 1): void {
    const network = addressSubject(address);
    const own = this.#taken.get(network) ?? 0;
    this.#all -= Math.min(own, count);
    if (own > count) this.#taken.set(network, own - count);
    else this.#taken.delete(network);
  }

  /** All places are free again, as at the start of a minute. */
  reset(): void {
    this.#taken.clear();
    this.#all = 0;
  }
}
