import { type ClosedReason, type LaneNews, MOST_CAP, paceAfter, pauseMs, reopened } from '@postrider/core/lanes';
import { type Candidate, type ClosedNow, type LaneLimit, NO_LANE, type Starter } from './candidate.ts';
import { Lane, MOST_WAITING, SMALL_SHARE, SMALL_SHARES } from './lane.ts';

const ALONE_MS = 2000;
const FORGET_MS = 600_000;
/**
 * One workspace holds at most so many times the places that are free. Alone it gets 480 of 600, two get 266 each: a
 * workspace that writes to many slow servers slows down before the places are gone, and the next one finds some.
 */
const FREE_SHARE = 4;

/** How wide a lane may become, and how long it may be left alone. */
export interface LaneSettings {
  readonly width: number;
  readonly longest_pause_ms: number;
}

const USUAL_SETTINGS: LaneSettings = { width: MOST_CAP, longest_pause_ms: 300_000 };

/** What a worker knows of its lanes, and every choice that follows from it. Nothing here waits, or asks the database. */
export class Lanes {
  readonly #now: () => number;
  readonly #settingsOf: (lane: string) => LaneSettings;
  readonly #lanes = new Map<string, Lane>();
  /** Names of lanes in which mail waits for a claim, in the order of their turns. */
  readonly #queued = new Set<string>();
  readonly #waiting = new Map<string, Candidate>();
  #limits: ReadonlyMap<string, LaneLimit> = new Map();
  /** The lane of the last job that came, and when one last came for another than the one before. */
  #last_lane = NO_LANE;
  #mixed_at = Number.NEGATIVE_INFINITY;
  #claimed = 0;
  readonly #claimedBy = new Map<string, number>();

  constructor(now: () => number, settingsOf: (lane: string) => LaneSettings = () => USUAL_SETTINGS) {
    this.#now = now;
    this.#settingsOf = settingsOf;
  }

  /** Lets jobs wait here for their claim, and returns those that must wait elsewhere. */
  admit(candidates: readonly Candidate[]): Candidate[] {
    const parked: Candidate[] = [];
    for (const candidate of candidates) {
      if (this.#renew(candidate)) continue;
      this.#noteLane(candidate.lane);
      const lane = this.#laneNamed(candidate.lane);
      if (lane.claimed_count === 0 && lane.waiting_count === 0 && !lane.parked) lane.busy_since = this.#now();
      lane.last_used = this.#now();
      if (lane.mayWait(candidate)) this.#put(lane, candidate);
      else {
        lane.noteParked(candidate.job.data.workspace_id);
        parked.push(candidate);
      }
    }
    return parked;
  }

  /** Whether all that came of late was for one lane, so that hardly any mail stands behind it that could go elsewhere. */
  isAlone(): boolean {
    return this.#now() - this.#mixed_at >= ALONE_MS;
  }

  /** How many more may wait in the one fast lane, and how many at most, where all that came of late was for it. */
  aloneCapacity(): { readonly free: number; readonly most: number } | null {
    const lane = this.#lanes.get(this.#last_lane);
    if (!lane || !this.isAlone() || lane.closed) return null;
    const most = lane.capacity();
    // What comes after parked mail of the same workspace is parked too: that is taken back first.
    return { free: lane.parked ? 0 : most - lane.waiting_count, most };
  }

  /** Whether a lane moves so fast that waiting in the queue is as good as waiting elsewhere. */
  isFast(name: string): boolean {
    return this.#laneNamed(name).isFast();
  }

  /** What is to be claimed next: one lane after another, in a lane one workspace after another. */
  take(count: number): Candidate[] {
    const taken: Candidate[] = [];
    for (let found = true; found && taken.length < count; ) {
      found = false;
      for (const name of [...this.#queued]) {
        if (taken.length >= count) break;
        const lane = this.#laneNamed(name);
        if (lane.claimed_count >= lane.window()) continue;
        const next = this.#shift(lane);
        if (!next) continue;
        found = true;
        const { workspace_id } = next.job.data;
        lane.claimed_count += 1;
        this.#claimed += 1;
        this.#claimedBy.set(workspace_id, (this.#claimedBy.get(workspace_id) ?? 0) + 1);
        taken.push(next);
        // To the end of the lanes' line.
        if (this.#queued.delete(name)) this.#queued.add(name);
      }
    }
    return taken;
  }

  /** Ends a place that take had given, without an attempt. */
  giveBack(name: string, workspace_id: string): void {
    this.#letGo(this.#laneNamed(name), workspace_id);
  }

  /** Runs at once or when a place is free; done ends it. */
  start(name: string, starter: Starter): void {
    const lane = this.#laneNamed(name);
    if (lane.closed === 'failing') {
      this.#letGo(lane, starter.workspace_id);
      starter.refuse();
      return;
    }
    lane.ready.push(starter);
    lane.startReady();
  }

  /** An attempt is over. Answers whether it has closed the lane, and whether it ended a row of pauses. */
  done(
    name: string,
    workspace_id: string,
    result: LaneNews | null,
  ): { readonly closed: ClosedNow | null; readonly recovered: boolean } {
    const lane = this.#laneNamed(name);
    lane.sending -= 1;
    this.#letGo(lane, workspace_id);
    lane.last_used = this.#now();
    let closed: ClosedNow | null = null;
    let recovered = false;
    if (result !== null && lane.closed !== 'failing') {
      const before = lane.pace;
      const settings = this.#settingsOf(name);
      const { pace, closes } = paceAfter(before, result, settings.width);
      lane.pace = pace;
      if (result === 'taken' || result === 'answered') {
        lane.noteFinished();
        recovered = before.closings > 0 && pace.closings === 0;
      }
      if (closes) {
        const left = this.#close(lane, 'failing');
        const seconds = pauseMs(pace.closings, result, settings.longest_pause_ms) / 1000;
        closed = { seconds, closings: pace.closings + 1, left };
      }
    }
    lane.startReady();
    return { closed, recovered };
  }

  /** Closes a lane, and returns the unclaimed mail that waited in it. */
  close(name: string, reason: ClosedReason, closings: number): Candidate[] {
    const lane = this.#laneNamed(name);
    if (reason === 'failing') lane.pace = reopened(closings);
    return this.#close(lane, reason);
  }

  open(name: string, closings: number): void {
    const lane = this.#laneNamed(name);
    if (lane.closed === 'failing') lane.pace = reopened(closings);
    lane.closed = null;
    lane.startReady();
  }

  isClosed(name: string): boolean {
    return (this.#lanes.get(name)?.closed ?? null) !== null;
  }

  closed(): string[] {
    return [...this.#lanes].flatMap(([name, lane]) => (lane.closed ? [name] : []));
  }

  /** Says that mail is parked in a lane, or that none is left. */
  setBacklog(name: string, parked: boolean): void {
    const lane = parked ? this.#laneNamed(name) : this.#lanes.get(name);
    if (!lane) return;
    lane.parked = parked;
    if (!parked) lane.parked_workspaces.clear();
  }

  /** Nothing of a workspace is parked in a lane any more. */
  drained(name: string, workspace_id: string): void {
    this.#lanes.get(name)?.parked_workspaces.delete(workspace_id);
  }

  /** Lanes that parked mail could be taken for, and how much. */
  shortages(): { readonly lane: string; readonly count: number }[] {
    return [...this.#lanes].flatMap(([name, lane]) => {
      if (!lane.parked || lane.closed) return [];
      const capacity = lane.capacity();
      return lane.waiting_count > capacity / 2
        ? []
        : [{ lane: name, count: Math.max(1, capacity - lane.waiting_count) }];
    });
  }

  setLimits(limits: ReadonlyMap<string, LaneLimit>): void {
    this.#limits = limits;
    for (const [name, lane] of this.#lanes) {
      lane.limit = limits.get(name) ?? null;
      lane.startReady();
    }
  }

  /**
   * Takes out what waits in a lane that has become too slow for so much, and forgets lanes long idle. Where all mail is
   * for one lane, no other needs the capacity.
   */
  trim(): Candidate[] {
    const left: Candidate[] = [];
    for (const [name, lane] of this.#lanes) {
      if (name === this.#last_lane && this.isAlone()) continue;
      for (let excess = lane.waiting_count - lane.capacity(); excess > 0; excess--) {
        const longest = [...lane.waiting.values()].reduce((most, line) => (line.length > most.length ? line : most));
        if (longest.length <= SMALL_SHARE && excess <= SMALL_SHARES) break;
        const last = longest.pop();
        if (!last) break;
        if (longest.length === 0) lane.waiting.delete(last.job.data.workspace_id);
        lane.waiting_count -= 1;
        this.#waiting.delete(last.job.id);
        lane.noteParked(last.job.data.workspace_id);
        left.push(last);
      }
      const idle = lane.claimed_count === 0 && lane.waiting_count === 0 && !lane.parked && !lane.closed;
      if (idle && this.#now() - lane.last_used > FORGET_MS) this.#lanes.delete(name);
    }
    return left;
  }

  /** Takes out everything that waits for a claim. */
  empty(): Candidate[] {
    return [...this.#lanes.values()].flatMap((lane) => this.#empty(lane));
  }

  waiting(): Candidate[] {
    return [...this.#waiting.values()];
  }

  counts(): { readonly claimed: number; readonly waiting: number } {
    return { claimed: this.#claimed, waiting: this.#waiting.size };
  }

  #laneNamed(name: string): Lane {
    let lane = this.#lanes.get(name);
    if (!lane) {
      lane = new Lane(name, this.#now, this.#limits.get(name) ?? null);
      this.#lanes.set(name, lane);
    }
    return lane;
  }

  #put(lane: Lane, candidate: Candidate): void {
    const { workspace_id } = candidate.job.data;
    const line = lane.waiting.get(workspace_id);
    if (line) line.push(candidate);
    else lane.waiting.set(workspace_id, [candidate]);
    lane.waiting_count += 1;
    this.#waiting.set(candidate.job.id, candidate);
    this.#queued.add(lane.name);
  }

  /** A job that comes again was lost and found by the queue: only its newest attempt may be settled. */
  #renew(candidate: Candidate): boolean {
    const earlier = this.#waiting.get(candidate.job.id);
    if (!earlier) return false;
    const line = this.#lanes.get(earlier.lane)?.waiting.get(earlier.job.data.workspace_id) ?? [];
    const renewed = { ...candidate, lane: earlier.lane };
    line[line.indexOf(earlier)] = renewed;
    this.#waiting.set(candidate.job.id, renewed);
    return true;
  }

  #noteLane(name: string): void {
    if (name === this.#last_lane || name === NO_LANE) return;
    if (this.#last_lane !== NO_LANE) this.#mixed_at = this.#now();
    this.#last_lane = name;
  }

  #empty(lane: Lane): Candidate[] {
    const left = [...lane.waiting.values()].flat();
    lane.waiting.clear();
    lane.waiting_count = 0;
    this.#queued.delete(lane.name);
    for (const { job } of left) {
      this.#waiting.delete(job.id);
      lane.noteParked(job.data.workspace_id);
    }
    return left;
  }

  /** Whether a workspace leaves enough to those that may come. Mail that has nothing to send is gone at once. */
  #mayClaim(lane: Lane, workspace_id: string): boolean {
    return (
      lane.name === NO_LANE || (this.#claimedBy.get(workspace_id) ?? 0) < FREE_SHARE * (MOST_WAITING - this.#claimed)
    );
  }

  /** The first of the workspace whose turn it is, which goes to the end of the line. */
  #shift(lane: Lane): Candidate | null {
    const turn = lane.waiting.entries().find(([workspace_id]) => this.#mayClaim(lane, workspace_id));
    if (!turn) return null;
    const [workspace_id, line] = turn;
    const candidate = line.shift() ?? null;
    lane.waiting.delete(workspace_id);
    if (line.length > 0) lane.waiting.set(workspace_id, line);
    if (candidate) {
      lane.waiting_count -= 1;
      this.#waiting.delete(candidate.job.id);
    }
    if (lane.waiting_count === 0) this.#queued.delete(lane.name);
    return candidate;
  }

  #letGo(lane: Lane, workspace_id: string): void {
    lane.claimed_count -= 1;
    this.#claimed -= 1;
    const left = (this.#claimedBy.get(workspace_id) ?? 0) - 1;
    if (left > 0) this.#claimedBy.set(workspace_id, left);
    else this.#claimedBy.delete(workspace_id);
  }

  #close(lane: Lane, reason: ClosedReason): Candidate[] {
    lane.closed = reason;
    // What is within a limit has been counted there, and may go on.
    if (reason === 'failing') {
      for (const starter of lane.ready.splice(0)) {
        this.#letGo(lane, starter.workspace_id);
        starter.refuse();
      }
    }
    return this.#empty(lane);
  }
}
