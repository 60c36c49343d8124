/** What a worker knows of the endpoints it posts to, and how much it takes for each. Nothing here waits or asks. */
export interface EndpointLanes<T> {
  /** How much the next claim may take: of endpoints not named, and of those that are known. */
  rooms(free: number): { readonly count: number; readonly rooms: readonly EndpointRoom[] };
  /** What a claim has brought for an endpoint, of what it was asked for; all of it is to be settled. */
  claimed(webhook_id: string, posts: readonly T[], count: number, asked: number): void;
  /** What may be posted now, over all endpoints. */
  start(): readonly T[];
  /** A post has ended. An endpoint that did not take it loses what waits here for it. */
  ended(webhook_id: string, taken: boolean): readonly T[];
  /** A result is recorded, or what waited was handed back. */
  settled(webhook_id: string): void;
  /** Takes out what waits for an endpoint. */
  drop(webhook_id: string): readonly T[];
  /** Whether a claim would likely bring more for an endpoint that has half of its room free. */
  hungry(): boolean;
  ids(): readonly string[];
  held(): number;
}

export interface EndpointRoom {
  readonly webhook_id: string;
  readonly count: number;
}

/** At most so many posts to one endpoint at a time. */
const MOST_POSTING = 4;
// More is claimed ahead of its turn, as much as the endpoint has lately taken in half a second: a fast one would
// stand still for each claim, and a slow one would hold what another worker could post.
const PERIOD_MS = 500;
const FIRST_AHEAD = 4;
const MOST_AHEAD = 100;

interface Lane<T> {
  readonly waiting: T[];
  posting: number;
  /** Claimed and not recorded yet. */
  held: number;
  failing: boolean;
  /** The last claim brought all that it was asked for. */
  more: boolean;
  period: number;
  taken: number;
  taken_before: number;
}

export function createEndpointLanes<T>(now: () => number): EndpointLanes<T> {
  const lanes = new Map<string, Lane<T>>();
  let held = 0;

  const laneOf = (id: string): Lane<T> => {
    let lane = lanes.get(id);
    if (!lane) {
      lane = { waiting: [], posting: 0, held: 0, failing: false, more: false, period: 0, taken: 0, taken_before: 0 };
      lanes.set(id, lane);
    }
    return lane;
  };
  const roll = (lane: Lane<T>) => {
    const period = Math.floor(now() / PERIOD_MS);
    if (period === lane.period) return;
    lane.taken_before = period === lane.period + 1 ? lane.taken : 0;
    lane.taken = 0;
    lane.period = period;
  };
  const windowOf = (lane: Lane<T>): number => {
    if (lane.failing) return MOST_POSTING;
    roll(lane);
    const recent = Math.max(lane.taken, lane.taken_before);
    return MOST_POSTING + Math.min(MOST_AHEAD, Math.max(FIRST_AHEAD, recent));
  };
  const forgetIdle = (id: string, lane: Lane<T>) => {
    const as_new = lane.failing || (!lane.more && windowOf(lane) === MOST_POSTING + FIRST_AHEAD);
    if (lane.held === 0 && as_new) lanes.delete(id);
  };
  const drop = (lane: Lane<T>) => lane.waiting.splice(0);

  return {
    rooms(free) {
      const count = MOST_POSTING + FIRST_AHEAD;
      const share = Math.max(MOST_POSTING, Math.floor(free / Math.max(1, lanes.size)));
      for (const [id, lane] of lanes) forgetIdle(id, lane);
      const rooms = [...lanes].map(([webhook_id, lane]) => ({
        webhook_id,
        count: Math.max(0, Math.min(windowOf(lane) - lane.held, share)),
      }));
      return { count, rooms };
    },
    claimed(id, posts, count, asked) {
      const lane = laneOf(id);
      lane.waiting.push(...posts);
      lane.held += count;
      held += count;
      lane.more = count >= asked;
    },
    start() {
      const started: T[] = [];
      for (const lane of lanes.values()) {
        while (lane.posting < MOST_POSTING) {
          const next = lane.waiting.shift();
          if (next === undefined) break;
          lane.posting += 1;
          started.push(next);
        }
      }
      return started;
    },
    ended(id, taken) {
      const lane = laneOf(id);
      lane.posting -= 1;
      lane.failing = !taken;
      if (!taken) return drop(lane);
      roll(lane);
      lane.taken += 1;
      return [];
    },
    settled(id) {
      laneOf(id).held -= 1;
      held -= 1;
    },
    drop(id) {
      const lane = lanes.get(id);
      return lane ? drop(lane) : [];
    },
    hungry() {
      for (const lane of lanes.values()) if (lane.more && lane.held <= windowOf(lane) / 2) return true;
      return false;
    },
    ids: () => [...lanes].flatMap(([id, lane]) => (lane.held > 0 ? [id] : [])),
    held: () => held,
  };
}
