import type { KeyMode } from '@postrider/core/api-keys';
import type { DeliveryJob } from '@postrider/core/delivery';
import {
  type ClosedReason,
  closedSeconds,
  FIRST_PACE,
  type LaneNews,
  MOST_CAP,
  type Pace,
  paceAfter,
  reopened,
} from '@postrider/core/lanes';

/** A fetched job on its way to be claimed. */
export interface Candidate {
  readonly job: DeliveryJob;
  readonly lane: string;
  readonly email: string;
  readonly mode: KeyMode;
  readonly from_domain: string;
  readonly api_key_id: string | null;
  readonly due_at: Date;
  /** It was parked before, and has waited for its turn. */
  readonly resumed: boolean;
}

/** For jobs that have nothing to wait for, because there is nothing to send. */
export const NO_LANE = '';

export interface LaneLimit {
  readonly connections: number | null;
  readonly messages_per_minute: number | null;
}

/** A claimed mail that waits for a place in its lane. */
export interface Starter {
  readonly workspace_id: string;
  run(): void;
  /** The lane has closed before its turn came. */
  refuse(): void;
}

/** A lane that has just been closed by its own failures. */
export interface ClosedNow {
  readonly seconds: number;
  readonly closings: number;
  /** Who waited unclaimed. */
  readonly left: readonly Candidate[];
}

export interface Lanes {
  /** Lets jobs wait here for their claim, and returns those that must wait elsewhere. */
  admit(candidates: readonly Candidate[]): Candidate[];
  /** Whether a lane moves so fast that waiting in the queue is as good as waiting elsewhere. */
  isFast(lane: string): boolean;
  /** Whether all that came of late was for one lane, so that hardly anybody stands behind it who could go elsewhere. */
  isAlone(): boolean;
  /** How many more may wait in the one fast lane, and how many at most, where all that came of late was for it. */
  aloneRoom(): { readonly free: number; readonly most: number } | null;
  /** Who is to be claimed next: one lane after another, in a lane one workspace after another. */
  take(count: number): Candidate[];
  /** Ends a place that take had given, without an attempt. */
  giveBack(lane: string, workspace_id: string): void;
  /** Runs at once or when a place is free; done ends it. */
  start(lane: string, starter: Starter): void;
  /** An attempt is over. Answers whether it has closed the lane, and whether it ended a row of pauses. */
  done(
    lane: string,
    workspace_id: string,
    news: LaneNews | null,
  ): { readonly closed: ClosedNow | null; readonly recovered: boolean };
  close(lane: string, reason: ClosedReason, closings: number): Candidate[];
  open(lane: string, closings: number): void;
  isClosed(lane: string): boolean;
  closed(): string[];
  /** Says that mail is parked in a lane, or that none is left. */
  setBacklog(lane: string, parked: boolean): void;
  /** Nothing of a workspace is parked in a lane any more. */
  drained(lane: string, workspace_id: string): void;
  /** Lanes that parked mail could be taken for, and how much. */
  shortages(): { readonly lane: string; readonly count: number }[];
  setLimits(limits: ReadonlyMap<string, LaneLimit>): void;
  /** Takes out who waits in a lane that has become too slow for so many, and forgets lanes long idle. */
  trim(): Candidate[];
  /** Takes out everybody who waits for a claim. */
  empty(): Candidate[];
  waiting(): Candidate[];
  counts(): { readonly held: number; readonly waiting: number };
}

// Mails are claimed ahead of their place, as many as the lane has lately sent in half a second: otherwise a fast
// lane would stand still for each claim, and a slow one would hold mail that another worker could send.
const PERIOD_MS = 500;
const MOST_AHEAD = 200;
const MOST_WAITING = 600;
/** A lane that was idle may be a fast one; it shows within this time. */
const FRESH_MS = 1000;
const FRESH_WAITING = 400;
const FAST = 20;
/** A workspace with little mail finds room beside one that has filled the lane, up to so many. */
const SMALL_SHARE = 2;
const SMALL_SHARES = 64;
const ALONE_MS = 2000;
const FORGET_MS = 600_000;
/**
 * One workspace holds at most so many times the places that are free. Alone it gets 480 of 600, two get 266 each: who
 * writes to many slow servers slows down before the places are gone, and whoever comes later finds some.
 */
const FREE_SHARE = 4;

interface Lane {
  pace: Pace;
  limit: LaneLimit | null;
  closed: ClosedReason | null;
  /** Claimed, or being claimed. */
  held: number;
  sending: number;
  readonly ready: Starter[];
  /** By workspace, in the order of their turns. */
  readonly waiting: Map<string, Candidate[]>;
  waiting_count: number;
  parked: boolean;
  /** Whose mail is parked behind what waits here. */
  readonly parked_workspaces: Set<string>;
  busy_since: number;
  last_used: number;
  period: number;
  finished: number;
  finished_before: number;
}

/** What a worker knows of its lanes, and every choice that follows from it. Nothing here waits or asks anybody. */
export function createLanes(now: () => number, widthOf: (lane: string) => number = () => MOST_CAP): Lanes {
  const lanes = new Map<string, Lane>();
  /** Names of lanes in which somebody waits, in the order of their turns. */
  const queued = new Set<string>();
  const waitingJobs = new Map<string, Candidate>();
  let limits: ReadonlyMap<string, LaneLimit> = new Map();
  let last_lane = NO_LANE;
  let mixed_at = Number.NEGATIVE_INFINITY;
  let held = 0;
  const heldBy = new Map<string, number>();

  const laneNamed = (name: string): Lane => {
    let lane = lanes.get(name);
    if (!lane) {
      lane = {
        pace: FIRST_PACE,
        limit: limits.get(name) ?? null,
        closed: null,
        held: 0,
        sending: 0,
        ready: [],
        waiting: new Map(),
        waiting_count: 0,
        parked: false,
        parked_workspaces: new Set(),
        busy_since: now(),
        last_used: now(),
        period: 0,
        finished: 0,
        finished_before: 0,
      };
      lanes.set(name, lane);
    }
    return lane;
  };

  const capOf = (name: string, lane: Lane) =>
    name === NO_LANE ? MOST_WAITING : Math.min(lane.pace.cap, lane.limit?.connections ?? lane.pace.cap);
  const roll = (lane: Lane) => {
    const period = Math.floor(now() / PERIOD_MS);
    if (period === lane.period) return;
    lane.finished_before = period === lane.period + 1 ? lane.finished : 0;
    lane.finished = 0;
    lane.period = period;
  };
  const recent = (lane: Lane) => {
    roll(lane);
    return Math.max(lane.finished, lane.finished_before);
  };
  const windowOf = (name: string, lane: Lane) => capOf(name, lane) + Math.min(MOST_AHEAD, recent(lane));
  const isFresh = (lane: Lane) => now() - lane.busy_since < FRESH_MS && lane.pace.closings === 0;
  const isFast = (lane: Lane) => lane.closed === null && (isFresh(lane) || recent(lane) >= FAST);
  const roomFor = (name: string, lane: Lane) => {
    if (name === NO_LANE) return Number.POSITIVE_INFINITY;
    const shown = Math.max(2 * capOf(name, lane), Math.min(MOST_WAITING, 2 * recent(lane)));
    return Math.min(
      isFresh(lane) ? Math.max(shown, FRESH_WAITING) : shown,
      lane.limit?.messages_per_minute ?? shown + FRESH_WAITING,
    );
  };

  const put = (name: string, lane: Lane, candidate: Candidate) => {
    const { workspace_id } = candidate.job.data;
    const line = lane.waiting.get(workspace_id);
    if (line) line.push(candidate);
    else lane.waiting.set(workspace_id, [candidate]);
    lane.waiting_count += 1;
    waitingJobs.set(candidate.job.id, candidate);
    queued.add(name);
  };

  /** A job that comes again was lost and found by the queue: only its newest attempt may be settled. */
  const renew = (candidate: Candidate): boolean => {
    const earlier = waitingJobs.get(candidate.job.id);
    if (!earlier) return false;
    const line = lanes.get(earlier.lane)?.waiting.get(earlier.job.data.workspace_id) ?? [];
    const renewed = { ...candidate, lane: earlier.lane };
    line[line.indexOf(earlier)] = renewed;
    waitingJobs.set(candidate.job.id, renewed);
    return true;
  };

  const mayWait = (name: string, lane: Lane, { job, resumed }: Candidate): boolean => {
    if (lane.closed) return false;
    const { workspace_id } = job.data;
    if (!resumed && lane.parked_workspaces.has(workspace_id)) return false;
    const room = roomFor(name, lane);
    if (lane.waiting_count < room) return true;
    const own = lane.waiting.get(workspace_id)?.length ?? 0;
    return own < SMALL_SHARE && lane.waiting_count < room + SMALL_SHARES;
  };

  const noteLane = (name: string) => {
    if (name === last_lane || name === NO_LANE) return;
    if (last_lane !== NO_LANE) mixed_at = now();
    last_lane = name;
  };
  const isAlone = () => now() - mixed_at >= ALONE_MS;

  const noteParked = (lane: Lane, workspace_id: string) => {
    lane.parked = true;
    lane.parked_workspaces.add(workspace_id);
  };

  const emptyLane = (name: string, lane: Lane): Candidate[] => {
    const left = [...lane.waiting.values()].flat();
    lane.waiting.clear();
    lane.waiting_count = 0;
    queued.delete(name);
    for (const { job } of left) {
      waitingJobs.delete(job.id);
      noteParked(lane, job.data.workspace_id);
    }
    return left;
  };

  /** Whether a workspace leaves enough to those that may come. Who has nothing to send is gone at once. */
  const mayHold = (name: string, workspace_id: string) =>
    name === NO_LANE || (heldBy.get(workspace_id) ?? 0) < FREE_SHARE * (MOST_WAITING - held);

  /** The first of the workspace whose turn it is, which goes to the end of the line. */
  const shift = (name: string, lane: Lane): Candidate | null => {
    const turn = lane.waiting.entries().find(([workspace_id]) => mayHold(name, workspace_id));
    if (!turn) return null;
    const [workspace_id, line] = turn;
    const candidate = line.shift() ?? null;
    lane.waiting.delete(workspace_id);
    if (line.length > 0) lane.waiting.set(workspace_id, line);
    if (candidate) {
      lane.waiting_count -= 1;
      waitingJobs.delete(candidate.job.id);
    }
    if (lane.waiting_count === 0) queued.delete(name);
    return candidate;
  };

  const startReady = (name: string, lane: Lane) => {
    while (lane.sending < capOf(name, lane)) {
      const next = lane.ready.shift();
      if (!next) return;
      lane.sending += 1;
      next.run();
    }
  };

  const letGo = (lane: Lane, workspace_id: string) => {
    lane.held -= 1;
    held -= 1;
    const left = (heldBy.get(workspace_id) ?? 0) - 1;
    if (left > 0) heldBy.set(workspace_id, left);
    else heldBy.delete(workspace_id);
  };

  const close = (name: string, lane: Lane, reason: ClosedReason): Candidate[] => {
    lane.closed = reason;
    // Who is within a limit has been counted there, and may go on.
    if (reason === 'failing') {
      for (const starter of lane.ready.splice(0)) {
        letGo(lane, starter.workspace_id);
        starter.refuse();
      }
    }
    return emptyLane(name, lane);
  };

  return {
    admit(candidates) {
      const parked: Candidate[] = [];
      for (const candidate of candidates) {
        if (renew(candidate)) continue;
        noteLane(candidate.lane);
        const lane = laneNamed(candidate.lane);
        if (lane.held === 0 && lane.waiting_count === 0 && !lane.parked) lane.busy_since = now();
        lane.last_used = now();
        if (mayWait(candidate.lane, lane, candidate)) put(candidate.lane, lane, candidate);
        else {
          noteParked(lane, candidate.job.data.workspace_id);
          parked.push(candidate);
        }
      }
      return parked;
    },
    isAlone,
    aloneRoom() {
      const lane = lanes.get(last_lane);
      if (!lane || !isAlone() || !isFast(lane)) return null;
      const most = roomFor(last_lane, lane);
      // Whoever comes after parked mail of the same workspace is parked too: that is taken back first.
      return { free: lane.parked ? 0 : most - lane.waiting_count, most };
    },
    isFast: (name) => isFast(laneNamed(name)),
    take(count) {
      const taken: Candidate[] = [];
      for (let found = true; found && taken.length < count; ) {
        found = false;
        for (const name of [...queued]) {
          if (taken.length >= count) break;
          const lane = laneNamed(name);
          if (lane.held >= windowOf(name, lane)) continue;
          const next = shift(name, lane);
          if (!next) continue;
          found = true;
          const { workspace_id } = next.job.data;
          lane.held += 1;
          held += 1;
          heldBy.set(workspace_id, (heldBy.get(workspace_id) ?? 0) + 1);
          taken.push(next);
          // To the end of the lanes' line.
          if (queued.delete(name)) queued.add(name);
        }
      }
      return taken;
    },
    giveBack(name, workspace_id) {
      letGo(laneNamed(name), workspace_id);
    },
    start(name, starter) {
      const lane = laneNamed(name);
      if (lane.closed === 'failing') {
        letGo(lane, starter.workspace_id);
        starter.refuse();
        return;
      }
      lane.ready.push(starter);
      startReady(name, lane);
    },
    done(name, workspace_id, news) {
      const lane = laneNamed(name);
      lane.sending -= 1;
      letGo(lane, workspace_id);
      lane.last_used = now();
      let closed: ClosedNow | null = null;
      let recovered = false;
      if (news !== null && lane.closed !== 'failing') {
        const before = lane.pace;
        const { pace, closes } = paceAfter(before, news, widthOf(name));
        lane.pace = pace;
        if (news === 'taken' || news === 'answered') {
          roll(lane);
          lane.finished += 1;
          recovered = before.closings > 0 && pace.closings === 0;
        }
        if (closes) {
          const left = close(name, lane, 'failing');
          closed = { seconds: closedSeconds(pace.closings), closings: pace.closings + 1, left };
        }
      }
      startReady(name, lane);
      return { closed, recovered };
    },
    close(name, reason, closings) {
      const lane = laneNamed(name);
      if (reason === 'failing') lane.pace = reopened(closings);
      return close(name, lane, reason);
    },
    open(name, closings) {
      const lane = laneNamed(name);
      if (lane.closed === 'failing') lane.pace = reopened(closings);
      lane.closed = null;
      startReady(name, lane);
    },
    isClosed: (name) => (lanes.get(name)?.closed ?? null) !== null,
    closed: () => [...lanes].flatMap(([name, lane]) => (lane.closed ? [name] : [])),
    setBacklog(name, parked) {
      const lane = parked ? laneNamed(name) : lanes.get(name);
      if (!lane) return;
      lane.parked = parked;
      if (!parked) lane.parked_workspaces.clear();
    },
    drained(name, workspace_id) {
      lanes.get(name)?.parked_workspaces.delete(workspace_id);
    },
    shortages() {
      return [...lanes].flatMap(([lane, state]) => {
        if (!state.parked || state.closed) return [];
        const room = roomFor(lane, state);
        return state.waiting_count > room / 2 ? [] : [{ lane, count: Math.max(1, room - state.waiting_count) }];
      });
    },
    setLimits(next) {
      limits = next;
      for (const [name, lane] of lanes) {
        lane.limit = limits.get(name) ?? null;
        startReady(name, lane);
      }
    },
    trim() {
      const left: Candidate[] = [];
      for (const [name, lane] of lanes) {
        for (let excess = lane.waiting_count - roomFor(name, lane); excess > 0; excess--) {
          const longest = [...lane.waiting.values()].reduce((most, line) => (line.length > most.length ? line : most));
          if (longest.length <= SMALL_SHARE && excess <= SMALL_SHARES) break;
          const last = longest.pop();
          if (!last) break;
          if (longest.length === 0) lane.waiting.delete(last.job.data.workspace_id);
          lane.waiting_count -= 1;
          waitingJobs.delete(last.job.id);
          noteParked(lane, last.job.data.workspace_id);
          left.push(last);
        }
        const idle = lane.held === 0 && lane.waiting_count === 0 && !lane.parked && !lane.closed;
        if (idle && now() - lane.last_used > FORGET_MS) lanes.delete(name);
      }
      return left;
    },
    empty() {
      return [...lanes].flatMap(([name, lane]) => emptyLane(name, lane));
    },
    waiting: () => [...waitingJobs.values()],
    counts: () => ({ held, waiting: waitingJobs.size }),
  };
}
