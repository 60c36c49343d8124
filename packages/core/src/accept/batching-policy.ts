// Above this size, the fixed cost no longer dominates a commit.
const EARLY_BATCH = 20;
// Share of the usual commit time. Any later, the database would idle; any sooner, a slow disk would get batches that
// are too small.
const EARLY_SHARE = 0.7;
// Several times the usual commit; only a commit waiting for a lock or a stalled disk takes longer.
export const MAX_WAIT_MS = 25;
const LAST_SAMPLE_WEIGHT = 0.2;

/** Decides when the next commit begins while others are under way. The caller passes the time. */
export interface BatchingPolicy {
  begun(size: number, now_ms: number): void;
  /** Records the end of the commit that began at begun_ms; commits may end in any order. */
  ended(begun_ms: number, now_ms: number): void;
  /** Returns whether the waiting requests justify a commit at the end of this turn of the event loop. */
  worthwhile(waiting: number, now_ms: number): boolean;
  /** Returns whether the waiting requests justify a commit mid-turn, while more requests are being read. */
  urgent(waiting: number, now_ms: number): boolean;
}

/**
 * Creates the policy that delays commits under load. A commit has a fixed cost, so while one is in flight the next
 * begins only once as many requests are waiting as the last one carried, or twenty once most of the usual time has
 * passed. The database then has the next commit ready when it finishes one, and a slow disk gets larger batches. A hung
 * commit delays others by at most 25 ms.
 */
export function createBatchingPolicy(max_under_way: number): BatchingPolicy {
  let under_way = 0;
  let last_size = 0;
  let last_begun_ms = 0;
  let served_from_ms = 0;
  let average_ms = 0;

  return {
    begun(size, now_ms) {
      if (under_way === 0) served_from_ms = now_ms;
      under_way += 1;
      last_size = size;
      last_begun_ms = now_ms;
    },
    ended(begun_ms, now_ms) {
      under_way -= 1;
      // The database began this commit only after finishing the previous one.
      const took_ms = now_ms - Math.max(begun_ms, served_from_ms);
      average_ms += (took_ms - average_ms) * (average_ms === 0 ? 1 : LAST_SAMPLE_WEIGHT);
      served_from_ms = now_ms;
    },
    worthwhile: (waiting, now_ms) =>
      under_way === 0 || (under_way < max_under_way && waiting >= last_size) || now_ms - last_begun_ms >= MAX_WAIT_MS,
    urgent(waiting, now_ms) {
      if (waiting < EARLY_BATCH || under_way >= max_under_way) return false;
      return under_way === 0 || now_ms - served_from_ms >= average_ms * EARLY_SHARE;
    },
  };
}
