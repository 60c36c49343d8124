const SETTLE_COUNT = 200;
/** How long results are collected under low load. */
export const SETTLE_MS = 15;
// A settle costs Postgres 0.7 ms plus the cost of its messages. A batch of this size occurs only at hundreds of
// messages per second, so the batches after it wait for more results. Below that rate, results are recorded as early as
// possible.
const RUSH_COUNT = 24;
const RUSH_SETTLE_COUNT = 100;
const RUSH_SETTLE_MS = 50;
export const MAX_SETTLING = 2;

/**
 * Decides when results are recorded. Waits are in milliseconds: 0 means immediately, and null means until the current
 * settle has ended.
 */
export interface BatchingPolicy {
  /** Called when a result has arrived; `waiting` includes it. */
  came(waiting: number): number | null;
  begun(size: number): void;
  /** Called when a settle has ended or timed out; `waiting` results arrived meanwhile. */
  ended(waiting: number): number | null;
}

/**
 * Creates a policy that collects results for 15 ms or until the previous batch is recorded, 200 at most. In a rush,
 * which a large batch starts and a small one ends, results are collected for 50 ms or up to 100. With a low limit on
 * deliveries in flight, those counts might never be reached, so a batch never waits for more than half of that limit.
 * Two batches are recorded concurrently, because results would otherwise be delayed by a slow batch.
 */
export function createBatchingPolicy(mostUnderWay: () => number, mostUnrecorded: () => number): BatchingPolicy {
  let settling = 0;
  let rushing = false;

  const rushCount = () => Math.min(RUSH_SETTLE_COUNT, mostUnderWay() / 2);

  const wait = (waiting: number, calm_ms: number) => {
    if (waiting >= Math.min(rushing ? rushCount() : SETTLE_COUNT, mostUnrecorded() / 2)) return 0;
    return rushing ? RUSH_SETTLE_MS : calm_ms;
  };

  return {
    came(waiting) {
      if (settling >= MAX_SETTLING) return waiting >= SETTLE_COUNT ? 0 : null;
      return wait(waiting, SETTLE_MS);
    },
    begun(size) {
      settling += 1;
      rushing = size >= Math.min(RUSH_COUNT, rushCount());
    },
    ended(waiting) {
      settling -= 1;
      return waiting === 0 ? null : wait(waiting, 0);
    },
  };
}

/** Holds results until they are flushed. For a drain, which knows when all have arrived. */
export const onFlush: BatchingPolicy = {
  came: (waiting) => (waiting >= SETTLE_COUNT ? 0 : null),
  begun: () => undefined,
  ended: () => null,
};
