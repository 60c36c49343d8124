import type { Sql } from './sql.ts';

const POLL_MS = 500;
const MAX_LAG_MS = 5000;
/** A measurement older than this is not used. */
const STALE_MS = 2000;

export interface Replica {
  /** Returns the replica if it is at most five seconds behind; null otherwise. */
  current(): Sql | null;
  stop(): Promise<void>;
}

/** The position of the replica, followed by that of the primary. */
export interface Positions {
  /** Null if it replays nothing: it was promoted, or is a separate database. */
  readonly replica: number | null;
  readonly primary: number;
}

/** Measures how far a replica is behind by comparing its position with the primary's at each look. */
export interface LagGauge {
  /** Compares both positions. Rethrows an error, after which the replica is unusable. */
  look(): Promise<void>;
  usable(): boolean;
}

/**
 * Measures the time since the primary was at the replica's current position. The time of the last replayed commit would
 * not work, because it does not advance while nothing is written.
 */
export function lagGauge(positions: () => Promise<Positions>, now: () => number): LagGauge {
  let marks: { readonly at: number; readonly position: number }[] = [];
  let reached_at = Number.NEGATIVE_INFINITY;
  let looked_at = Number.NEGATIVE_INFINITY;
  return {
    async look() {
      const asked_at = now();
      const latest = await positions().catch((error) => {
        reached_at = Number.NEGATIVE_INFINITY;
        throw error;
      });
      const { replica, primary } = latest;
      // The replica is ahead of the primary although the primary was read later, so the replica follows a different
      // history.
      if (replica === null || replica > primary) {
        reached_at = Number.NEGATIVE_INFINITY;
        marks = [];
        return;
      }
      marks.push({ at: asked_at, position: primary });
      const reached = marks.findLastIndex(({ position }) => position <= replica);
      reached_at = marks[reached]?.at ?? Number.NEGATIVE_INFINITY;
      marks = marks.slice(Math.max(0, reached)).filter(({ at }) => at > asked_at - 2 * MAX_LAG_MS);
      looked_at = now();
    },
    usable: () => now() - reached_at < MAX_LAG_MS && now() - looked_at < STALE_MS,
  };
}

/** Tracks how far a streaming replica is behind its primary. */
export function followReplica(primary: Sql, replica: Sql, on_change: (usable: boolean) => void): Replica {
  let was_usable = false;
  let running = true;
  const gauge = lagGauge(
    () => positionsOf(primary, replica),
    () => performance.now(),
  );
  const turn = async () => {
    await gauge.look().catch(() => undefined);
    if (gauge.usable() !== was_usable) {
      was_usable = gauge.usable();
      on_change(was_usable);
    }
    if (!running) return;
    timer = setTimeout(() => {
      turning = turn();
    }, POLL_MS);
  };
  let timer: NodeJS.Timeout | null = null;
  let turning = turn();
  return {
    current: () => (gauge.usable() ? replica : null),
    async stop() {
      running = false;
      if (timer) clearTimeout(timer);
      await turning;
      await replica.end({ timeout: 1 });
    },
  };
}

async function positionsOf(primary: Sql, replica: Sql): Promise<Positions> {
  const [replica_row] = await replica<{ position: number | null; replays: boolean }[]>`
    select (pg_last_wal_replay_lsn() - '0/0')::float8 as position, pg_is_in_recovery() as replays`;
  const [primary_row] = await primary<{ position: number }[]>`
    select (pg_current_wal_lsn() - '0/0')::float8 as position`;
  if (!replica_row || !primary_row) throw new Error('a position was not answered');
  return { replica: replica_row.replays ? replica_row.position : null, primary: primary_row.position };
}
