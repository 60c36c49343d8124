/** A database, the product's or a peer's, that accepts messages. */
export interface AcceptTarget {
  /** Send requests with one message each; every request uses a different key. */
  readonly requests: readonly Buffer[];
  /** The process whose descendants run the target's statements. */
  readonly postmaster?: number;
  countMessages(): Promise<number>;
  /** Deletes the rows that a run has written. */
  reset(): Promise<void>;
  stop(): Promise<void>;
}
