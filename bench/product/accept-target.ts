/** A database that accepts messages, the product's or a peer's. */
export interface AcceptTarget {
  /** Send requests of one message each, each with a different key. */
  readonly requests: readonly Buffer[];
  countMessages(): Promise<number>;
  /** Deletes the rows that a run has written. */
  reset(): Promise<void>;
  stop(): Promise<void>;
}
