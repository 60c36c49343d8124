/** Slots that clients share: a total, and a maximum for each owner. */
export interface SharedPlaces {
  /** Takes `count` slots and returns true, or returns false if not enough slots are left. */
  take(owner: string, count?: number): boolean;
  give(owner: string, count?: number): void;
}
