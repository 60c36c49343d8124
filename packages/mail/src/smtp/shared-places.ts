/** Slots that clients share: a total, and a maximum for each owner. */
export interface SharedPlaces {
  /** Takes this many slots and returns true, or returns false if not enough are left. */
  take(owner: string, count?: number): boolean;
  give(owner: string, count?: number): void;
}
