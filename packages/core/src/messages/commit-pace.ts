// With this many, a commit's own price is no longer most of what it costs.
const COMPANY = 20;
// Of a commit's usual time. Later, the database would run dry; sooner, a slow disk would get batches that are too small.
const SHARE = 0.7;
// Several times what a commit takes; only a commit that waits for a lock or a stalled disk lasts longer.
export const LONGEST_HOLD_MS = 25;
const WEIGHT_OF_THE_LAST = 0.2;

/** Decides when the next commit begins while others are under way. Whoever asks tells the time. */
export interface CommitPace {
  begun(size: number, now_ms: number): void;
  /** Of commits under way the one that began then has ended, which need not be the first. */
  ended(begun_ms: number, now_ms: number): void;
  /** Whether what waits at the end of a turn of the event loop is worth a commit. */
  worthwhile(waiting: number, now_ms: number): boolean;
  /** Whether it is already in the middle of a turn, while more requests are being read. */
  urgent(waiting: number, now_ms: number): boolean;
}

/**
 * Each commit has a price of its own, so while one is under way the next begins only with company: as many as the last
 * one carried, or twenty once most of the usual time has passed. So the database finds the next commit
 * when it has done with one, and a disk that is slow gathers more. A commit that hangs holds nobody back for long.
 */
export function createCommitPace(most_under_way: number): CommitPace {
  let under_way = 0;
  let last_size = 0;
  let last_begun_ms = 0;
  let served_from_ms = 0;
  let usual_ms = 0;

  return {
    begun(size, now_ms) {
      if (under_way === 0) served_from_ms = now_ms;
      under_way += 1;
      last_size = size;
      last_begun_ms = now_ms;
    },
    ended(begun_ms, now_ms) {
      under_way -= 1;
      // It was the database's turn only when the one before it was done.
      const took_ms = now_ms - Math.max(begun_ms, served_from_ms);
      usual_ms += (took_ms - usual_ms) * (usual_ms === 0 ? 1 : WEIGHT_OF_THE_LAST);
      served_from_ms = now_ms;
    },
    worthwhile: (waiting, now_ms) =>
      under_way === 0 ||
      (under_way < most_under_way && waiting >= last_size) ||
      now_ms - last_begun_ms >= LONGEST_HOLD_MS,
    urgent(waiting, now_ms) {
      if (waiting < COMPANY || under_way >= most_under_way) return false;
      return under_way === 0 || now_ms - served_from_ms >= usual_ms * SHARE;
    },
  };
}
