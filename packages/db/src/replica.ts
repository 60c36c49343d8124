import type { Sql } from './sql.ts';

const LOOK_MS = 500;
const MOST_LAG_MS = 5000;
/** What was looked at so long ago says nothing. */
const STALE_MS = 2000;

export interface Replica {
  /** The replica while it is at most five seconds behind; null otherwise. */
  current(): Sql | null;
  stop(): Promise<void>;
}

interface Mark {
  readonly at: number;
  readonly position: number;
}

/**
 * Follows how far a streaming replica is behind its primary: since when the primary is where the replica is now. The
 * time of the last replayed commit would not do, as it stands still where nothing is written.
 */
export function followReplica(primary: Sql, replica: Sql, on_change: (usable: boolean) => void): Replica {
  let marks: Mark[] = [];
  let lag_ms = Number.POSITIVE_INFINITY;
  let looked_at = Number.NEGATIVE_INFINITY;
  let was_usable = false;
  let running = true;
  const usable = () => lag_ms < MOST_LAG_MS && performance.now() - looked_at < STALE_MS;
  const look = async () => {
    const asked_at = performance.now();
    const [there] = await primary<{ position: number }[]>`
      select (pg_current_wal_lsn() - '0/0')::float8 as position`;
    const [here] = await replica<{ position: number | null; replays: boolean }[]>`
      select (pg_last_wal_replay_lsn() - '0/0')::float8 as position, pg_is_in_recovery() as replays`;
    if (!there || here?.position == null || !here.replays) {
      // Promoted, or a database of its own.
      lag_ms = Number.POSITIVE_INFINITY;
      return;
    }
    marks.push({ at: asked_at, position: there.position });
    const reached = marks.findLastIndex(({ position }) => position <= (here.position ?? 0));
    marks = marks.slice(Math.max(0, reached)).filter(({ at }) => at > asked_at - 2 * MOST_LAG_MS);
    lag_ms = reached < 0 ? Number.POSITIVE_INFINITY : performance.now() - (marks[0]?.at ?? 0);
    looked_at = performance.now();
  };
  const turn = async () => {
    await look().catch(() => {
      lag_ms = Number.POSITIVE_INFINITY;
    });
    if (usable() !== was_usable) {
      was_usable = usable();
      on_change(was_usable);
    }
    if (!running) return;
    timer = setTimeout(() => {
      turning = turn();
    }, LOOK_MS);
  };
  let timer: NodeJS.Timeout | null = null;
  let turning = turn();
  return {
    current: () => (usable() ? replica : null),
    async stop() {
      running = false;
      if (timer) clearTimeout(timer);
      await turning;
      await replica.end({ timeout: 1 });
    },
  };
}
