/** A database that accepts mail, the product's or a peer's. */
export interface AcceptTarget {
  /** Sends of one mail each, with a key each. */
  readonly requests: readonly Buffer[];
  countMessages(): Promise<number>;
  /** Empties what a run has written. */
  reset(): Promise<void>;
  stop(): Promise<void>;
}
