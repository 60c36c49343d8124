/** Places that clients share: so many in all, and so many for each owner. */
export interface SharedPlaces {
  /** Whether there were so many places left; if so, they are taken. */
  take(owner: string, count?: number): boolean;
  give(owner: string, count?: number): void;
}
