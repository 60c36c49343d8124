const SETTLE_COUNT = 200;
/** How long results are collected for while few come. */
export const SETTLE_MS = 15;
// A settle costs Postgres 0.7 ms before its first mail. So many at once come only where hundreds a second do; those
// that follow wait for more, and below that nothing is left unrecorded for longer than it has to be.
const RUSH_COUNT = 24;
const RUSH_SETTLE_COUNT = 100;
const RUSH_SETTLE_MS = 50;

/** Decides when results are recorded. Each wait is in ms: 0 is at once, and null until a settle under way has ended. */
export interface SettlePace {
  /** A result has come, and with it so many wait. */
  came(waiting: number): number | null;
  begun(size: number): void;
  /** A settle has ended, or is no longer waited for, and so many came meanwhile. */
  ended(waiting: number): number | null;
}

/**
 * Results wait for company for 15 ms, or while the ones before are being recorded, and then those go next that came
 * meanwhile; 200 wait for nobody. In a rush, which a large batch begins and a small one ends, they wait for 50 ms or
 * until there are 100; where an operator lets fewer be under way at once, for no more than half of them, as all could
 * never come.
 */
export function createSettlePace(mostUnderWay: () => number): SettlePace {
  let settling = 0;
  let rushing = false;

  const rushCount = () => Math.min(RUSH_SETTLE_COUNT, mostUnderWay() / 2);

  const wait = (waiting: number, calm_ms: number) => {
    if (waiting >= (rushing ? rushCount() : SETTLE_COUNT)) return 0;
    return rushing ? RUSH_SETTLE_MS : calm_ms;
  };

  return {
    came(waiting) {
      if (settling > 0) return waiting >= SETTLE_COUNT ? 0 : null;
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
