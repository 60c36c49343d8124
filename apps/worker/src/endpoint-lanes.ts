import type { EndpointRoom, Visit } from '@postrider/core/webhooks';

/** What a worker knows of the endpoints it posts to, and how much it takes for each. Nothing here waits or asks. */
export interface EndpointLanes<T> {
  /** A visit has begun: the endpoint is this worker's until it leaves. */
  begin(visit: Visit): void;
  /** Something may be due at an endpoint, or at all of them. */
  look(webhook_id?: string): void;
  /** How much the next claim takes of whom. What is named here is to be reported by claimed. */
  ask(free: number): readonly EndpointRoom[];
  /** What a claim has brought for an endpoint that was asked for; all of it is to be settled. */
  claimed(webhook_id: string, posts: readonly T[], count: number, asked: number): void;
  /** What may be posted to an endpoint now. */
  start(webhook_id: string): readonly T[];
  /** A post has ended. An endpoint that did not take it loses what waits here for it. */
  ended(webhook_id: string, taken: boolean): readonly T[];
  /** A result is recorded, or what waited was handed back. */
  settled(webhook_id: string): void;
  /** Takes out what waits for an endpoint. */
  drop(webhook_id: string): readonly T[];
  /** Ends the visits that have nothing left to do but to record so many results for each endpoint. */
  leave(recording: ReadonlyMap<string, number>): readonly LeftVisit[];
  /** A visit was lost to somebody else. */
  lose(visit: Visit): void;
  /** Ends all visits as soon as they can, whatever is due. */
  close(): void;
  /** Whether a claim would likely bring more for an endpoint that has half of its room free. */
  hungry(): boolean;
  ids(): readonly string[];
  visits(): readonly Visit[];
  held(): number;
}

export interface LeftVisit extends Visit {
  readonly idle: boolean;
}

/** At most so many posts to one endpoint at a time. */
const MOST_POSTING = 4;
// More is claimed ahead of its turn, as much as the endpoint has lately taken in half a second: a fast one would
// stand still for each claim, and a slow one would hold what could be told from a switch.
const PERIOD_MS = 500;
const FIRST_AHEAD = 4;
const MOST_AHEAD = 100;
// A long line is left after so long, for another worker, or for an endpoint that waits behind many such.
const VISIT_MS = 5000;

interface Lane<T> {
  readonly waiting: T[];
  posting: number;
  /** Claimed and not recorded yet. */
  held: number;
  failing: boolean;
  period: number;
  taken: number;
  taken_before: number;
  visit: Visit | null;
  begun_at: number;
  /** Something is due that was not asked for yet. */
  wants: boolean;
  asking: boolean;
  /** Nothing was claimed in this visit. */
  idle: boolean;
}

export function createEndpointLanes<T>(now: () => number): EndpointLanes<T> {
  const lanes = new Map<string, Lane<T>>();
  let held = 0;
  let closed = false;

  const laneOf = (id: string): Lane<T> => {
    let lane = lanes.get(id);
    if (!lane) {
      lane = {
        waiting: [],
        posting: 0,
        held: 0,
        failing: false,
        period: 0,
        taken: 0,
        taken_before: 0,
        visit: null,
        begun_at: 0,
        wants: false,
        asking: false,
        idle: true,
      };
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
  const forgetIdle = () => {
    for (const [id, lane] of lanes) {
      const as_new = lane.failing || windowOf(lane) === MOST_POSTING + FIRST_AHEAD;
      if (lane.visit === null && lane.held === 0 && as_new) lanes.delete(id);
    }
  };
  const over = (lane: Lane<T>) => closed || now() - lane.begun_at > VISIT_MS;
  const drop = (lane: Lane<T>) => lane.waiting.splice(0);

  return {
    begin(visit) {
      const lane = laneOf(visit.webhook_id);
      lane.visit = visit;
      lane.begun_at = now();
      lane.wants = true;
      lane.idle = true;
    },
    look(webhook_id) {
      if (webhook_id === undefined) for (const lane of lanes.values()) lane.wants = true;
      else {
        const lane = lanes.get(webhook_id);
        if (lane) lane.wants = true;
      }
    },
    ask(free) {
      forgetIdle();
      const share = Math.max(MOST_POSTING, Math.floor(free / Math.max(1, lanes.size)));
      let left = free;
      const rooms: EndpointRoom[] = [];
      for (const [webhook_id, lane] of lanes) {
        if (lane.visit === null || !lane.wants || lane.asking || over(lane)) continue;
        const count = Math.min(windowOf(lane) - lane.held, share, left);
        if (count <= 0) continue;
        lane.wants = false;
        lane.asking = true;
        left -= count;
        rooms.push({ webhook_id, holder: lane.visit.holder, count });
      }
      return rooms;
    },
    claimed(id, posts, count, asked) {
      const lane = laneOf(id);
      lane.asking = false;
      lane.waiting.push(...posts);
      lane.held += count;
      held += count;
      if (count > 0) lane.idle = false;
      if (count >= asked) lane.wants = true;
    },
    start(id) {
      const lane = laneOf(id);
      const started = lane.waiting.splice(0, MOST_POSTING - lane.posting);
      lane.posting += started.length;
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
    leave(recording) {
      const left: LeftVisit[] = [];
      for (const [id, lane] of lanes) {
        if (lane.visit === null || lane.asking || lane.held > (recording.get(id) ?? 0)) continue;
        if (lane.wants && !over(lane)) continue;
        left.push({ ...lane.visit, idle: lane.idle && !closed });
        lane.visit = null;
      }
      return left;
    },
    lose(visit) {
      const lane = lanes.get(visit.webhook_id);
      if (lane?.visit === visit) lane.visit = null;
    },
    close() {
      closed = true;
    },
    hungry() {
      for (const lane of lanes.values()) {
        if (lane.visit !== null && lane.wants && !lane.asking && !over(lane) && lane.held <= windowOf(lane) / 2)
          return true;
      }
      return false;
    },
    ids: () => [...lanes].flatMap(([id, lane]) => (lane.held > 0 ? [id] : [])),
    visits: () => [...lanes.values()].flatMap(({ visit }) => (visit === null ? [] : [visit])),
    held: () => held,
  };
}
