import { type ClosedReason, type LaneNews, MAX_CAP, paceAfter, pauseMs, reopened } from '@postrider/core/lanes';
import { type Priority, priorities } from '@postrider/core/priorities';
import { type Candidate, type ClosedNow, type LaneLimit, NO_LANE, type Starter } from './candidate.ts';
import type { Standing } from './fair-line.ts';
import { Lane, MAX_WAITING, SMALL_SHARE, SMALL_SHARES, standingOf } from './lane.ts';
import type { LargeEmailMemory } from './large-email-memory.ts';

const ALONE_MS = 2000;
const FORGET_MS = 600_000;
/**
 * A workspace may claim at most this many times the number of free slots. A single workspace gets 480 of 600; two get
 * 266 each. A workspace that sends to many slow servers thus slows down before the slots run out, and the next
 * workspace still finds free slots.
 */
const FREE_SHARE = 4;

/** The limits of a lane: concurrent messages, and the longest pause. */
export interface LaneSettings {
  readonly width: number;
  readonly longest_pause_ms: number;
}

const DEFAULT_SETTINGS: LaneSettings = { width: MAX_CAP, longest_pause_ms: 300_000 };

/** The lanes of this worker and all decisions about them, purely in memory: nothing here waits or uses the database. */
export class Lanes {
  readonly #now: () => number;
  readonly #large_memory: LargeEmailMemory;
  readonly #settingsOf: (lane: string) => LaneSettings;
  readonly #lanes = new Map<string, Lane>();
  /** Names of lanes in which jobs wait for a claim, in round-robin order. */
  readonly #queued = new Set<string>();
  readonly #waiting = new Map<string, Candidate>();
  #limitOf: (lane: string) => LaneLimit | null = () => null;
  /** The lane of the last job, and when consecutive jobs last had different lanes. */
  #last_lane = NO_LANE;
  #mixed_at = Number.NEGATIVE_INFINITY;
  #claimed = 0;
  readonly #claimedBy = new Map<string, number>();
  readonly #waitingOf: Record<Priority, number> = { high: 0, normal: 0, bulk: 0 };

  constructor(
    now: () => number,
    large_memory: LargeEmailMemory,
    settingsOf: (lane: string) => LaneSettings = () => DEFAULT_SETTINGS,
  ) {
    this.#now = now;
    this.#large_memory = large_memory;
    this.#settingsOf = settingsOf;
  }

  /** Queues jobs in their lanes, and returns those that have to be parked. */
  admit(candidates: readonly Candidate[]): Candidate[] {
    const parked: Candidate[] = [];
    for (const candidate of candidates) {
      if (this.#renew(candidate)) continue;
      this.#noteLane(candidate.lane);
      const lane = this.#laneNamed(candidate.lane);
      if (lane.claimed_count === 0 && lane.waiting.length === 0 && lane.parked.size === 0)
        lane.busy_since = this.#now();
      lane.last_used = this.#now();
      if (lane.mayWait(candidate)) this.#put(lane, candidate);
      else {
        lane.noteParked(standingOf(candidate));
        parked.push(candidate);
      }
    }
    return parked;
  }

  /** Returns whether all recent jobs were for one lane, so that the queue hardly contains jobs for other lanes. */
  isAlone(): boolean {
    return this.#now() - this.#mixed_at >= ALONE_MS;
  }

  /**
   * If all recent jobs were for one open lane, returns how many more jobs of a priority may wait there, and the
   * maximum. Otherwise, returns null.
   */
  aloneCapacity(priority: Priority): { readonly free: number; readonly most: number } | null {
    const lane = this.#lanes.get(this.#last_lane);
    if (!lane || !this.isAlone() || lane.closed) return null;
    const max = lane.capacity();
    // Jobs that follow parked jobs of the same workspace are parked too, because the parked jobs are resumed first.
    return { free: lane.parked.has(priority) ? 0 : max - lane.waiting.countOf(priority), most: max };
  }

  /** Returns whether a lane is so fast that its jobs may as well wait in the queue. */
  isFast(name: string): boolean {
    return this.#laneNamed(name).isFast();
  }

  /** Takes the next jobs to claim: round-robin over lanes, over workspaces within a lane, then by priority. */
  take(count: number): Candidate[] {
    const batch: Candidate[] = [];
    for (let has_more = true; has_more && batch.length < count; ) {
      has_more = false;
      for (const name of [...this.#queued]) {
        if (batch.length >= count) break;
        const lane = this.#laneNamed(name);
        if (lane.claimed_count >= lane.window()) continue;
        const next = this.#shift(lane);
        if (!next) continue;
        has_more = true;
        this.#reserve(lane, next.job.data.workspace_id);
        this.#large_memory.take(next);
        batch.push(next);
        // Moves the lane to the end of the round.
        if (this.#queued.delete(name)) this.#queued.add(name);
      }
    }
    return batch;
  }

  /** Releases a slot that `take` reserved, without an attempt. */
  giveBack(name: string, workspace_id: string): void {
    this.#letGo(this.#laneNamed(name), workspace_id);
  }

  /** Reserves a slot for a claimed message that moves here from the lane of another transport. */
  moveIn(name: string, workspace_id: string): void {
    this.#reserve(this.#laneNamed(name), workspace_id);
  }

  /** Starts a message now or when a connection becomes free. `done` releases the connection. */
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

  /** Ends an attempt. Returns whether it closed the lane, and whether it ended a series of closings. */
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
        const candidates = this.#close(lane, 'failing');
        const seconds = pauseMs(pace.closings, result, settings.longest_pause_ms) / 1000;
        closed = { seconds, closings: pace.closings + 1, left: candidates };
      }
    }
    lane.startReady();
    return { closed, recovered };
  }

  /** Closes a lane, and returns the unclaimed jobs that waited in it. */
  close(name: string, reason: ClosedReason, closings: number): Candidate[] {
    const lane = this.#laneNamed(name);
    if (reason === 'failing') lane.pace = reopened(lane.pace, closings);
    return this.#close(lane, reason);
  }

  open(name: string, closings: number): void {
    const lane = this.#laneNamed(name);
    if (lane.closed === 'failing') lane.pace = reopened(lane.pace, closings);
    lane.closed = null;
    lane.startReady();
  }

  /** Returns the number of messages that are connecting or on a connection. */
  sendingIn(name: string): number {
    return this.#lanes.get(name)?.sending ?? 0;
  }

  isClosed(name: string): boolean {
    return (this.#lanes.get(name)?.closed ?? null) !== null;
  }

  /** Returns whether a lane is closed because its servers fail, and so for minutes at most. */
  isFailing(name: string): boolean {
    return this.#lanes.get(name)?.closed === 'failing';
  }

  closed(): string[] {
    return [...this.#lanes].flatMap(([name, lane]) => (lane.closed ? [name] : []));
  }

  /** Records whether jobs of a priority are parked in a lane. */
  setBacklog(name: string, priority: Priority, parked: boolean): void {
    if (parked) this.#laneNamed(name).parked.add(priority);
    else this.#lanes.get(name)?.forgetParked(priority, null);
  }

  /** Records that a workspace has no more jobs of a priority parked in a lane. */
  drained(name: string, { workspace_id, priority }: Standing): void {
    this.#lanes.get(name)?.forgetParked(priority, workspace_id);
  }

  /** Returns the lanes and priorities that could resume parked jobs, and how many. */
  shortages(): { readonly lane: string; readonly priority: Priority; readonly count: number }[] {
    return [...this.#lanes].flatMap(([name, lane]) => {
      if (lane.parked.size === 0 || lane.closed) return [];
      const capacity = lane.capacity();
      return [...lane.parked].flatMap((priority) => {
        const waiting = lane.waiting.countOf(priority);
        return waiting > capacity / 2 ? [] : [{ lane: name, priority, count: Math.max(1, capacity - waiting) }];
      });
    });
  }

  setLimits(limitOf: (lane: string) => LaneLimit | null): void {
    this.#limitOf = limitOf;
    for (const [name, lane] of this.#lanes) {
      lane.limit = limitOf(name);
      lane.startReady();
    }
  }

  /**
   * Removes the jobs beyond the capacity of a lane that has become slow, and forgets lanes that have been idle for
   * long. If all jobs are for one lane, no other lane needs the capacity.
   */
  trim(): Candidate[] {
    const candidates: Candidate[] = [];
    for (const [name, lane] of this.#lanes) {
      if (name === this.#last_lane && this.isAlone()) continue;
      for (const priority of priorities) candidates.push(...this.#trim(lane, priority));
      const idle = lane.claimed_count === 0 && lane.waiting.length === 0 && lane.parked.size === 0 && !lane.closed;
      if (idle && this.#now() - lane.last_used > FORGET_MS) this.#lanes.delete(name);
    }
    return candidates;
  }

  /** Removes and returns all jobs that wait for a claim. */
  empty(): Candidate[] {
    return [...this.#lanes.values()].flatMap((lane) => this.#empty(lane));
  }

  waiting(): Candidate[] {
    return [...this.#waiting.values()];
  }

  waitingOf(priority: Priority): number {
    return this.#waitingOf[priority];
  }

  counts(): { readonly claimed: number; readonly waiting: number } {
    return { claimed: this.#claimed, waiting: this.#waiting.size };
  }

  #laneNamed(name: string): Lane {
    let lane = this.#lanes.get(name);
    if (!lane) {
      lane = new Lane(name, this.#now, this.#limitOf(name));
      this.#lanes.set(name, lane);
    }
    return lane;
  }

  #put(lane: Lane, candidate: Candidate): void {
    lane.waiting.push(candidate);
    this.#waiting.set(candidate.job.id, candidate);
    this.#waitingOf[candidate.priority] += 1;
    this.#queued.add(lane.name);
  }

  /** A job that is fetched again was lost and rescued by the queue, so only its newest fetch may be settled. */
  #renew(candidate: Candidate): boolean {
    const earlier = this.#waiting.get(candidate.job.id);
    if (!earlier) return false;
    const renewed = { ...candidate, lane: earlier.lane, priority: earlier.priority };
    this.#lanes.get(earlier.lane)?.waiting.replace(earlier, renewed);
    this.#waiting.set(candidate.job.id, renewed);
    return true;
  }

  #forget({ job, priority }: Candidate): void {
    if (this.#waiting.delete(job.id)) this.#waitingOf[priority] -= 1;
  }

  #noteLane(name: string): void {
    if (name === this.#last_lane || name === NO_LANE) return;
    if (this.#last_lane !== NO_LANE) this.#mixed_at = this.#now();
    this.#last_lane = name;
  }

  #empty(lane: Lane): Candidate[] {
    const candidates = lane.waiting.empty();
    this.#queued.delete(lane.name);
    for (const candidate of candidates) {
      this.#forget(candidate);
      lane.noteParked(standingOf(candidate));
    }
    return candidates;
  }

  /** Removes the jobs beyond a lane's capacity, from the workspaces with the most jobs. */
  #trim(lane: Lane, priority: Priority): Candidate[] {
    const candidates: Candidate[] = [];
    for (let excess = lane.waiting.countOf(priority) - lane.capacity(); excess > 0; excess--) {
      const last = lane.waiting.popLongest(priority, excess <= SMALL_SHARES ? SMALL_SHARE : 0);
      if (!last) break;
      this.#forget(last);
      lane.noteParked(standingOf(last));
      candidates.push(last);
    }
    if (lane.waiting.length === 0) this.#queued.delete(lane.name);
    return candidates;
  }

  /**
   * Returns whether a workspace leaves enough slots for others. Jobs with nothing to send end immediately and are not
   * limited.
   */
  #mayClaim(lane: Lane, workspace_id: string): boolean {
    return (
      lane.name === NO_LANE || (this.#claimedBy.get(workspace_id) ?? 0) < FREE_SHARE * (MAX_WAITING - this.#claimed)
    );
  }

  /** Returns the next job in round-robin order of workspaces and priorities. */
  #shift(lane: Lane): Candidate | null {
    const candidate = lane.waiting.shift(
      (workspace_id) => this.#mayClaim(lane, workspace_id),
      (waiting) => this.#large_memory.hasRoomFor(waiting),
    );
    if (candidate) this.#forget(candidate);
    if (lane.waiting.length === 0) this.#queued.delete(lane.name);
    return candidate;
  }

  #reserve(lane: Lane, workspace_id: string): void {
    lane.claimed_count += 1;
    this.#claimed += 1;
    this.#claimedBy.set(workspace_id, (this.#claimedBy.get(workspace_id) ?? 0) + 1);
  }

  #letGo(lane: Lane, workspace_id: string): void {
    lane.claimed_count -= 1;
    this.#claimed -= 1;
    const count = (this.#claimedBy.get(workspace_id) ?? 0) - 1;
    if (count > 0) this.#claimedBy.set(workspace_id, count);
    else this.#claimedBy.delete(workspace_id);
  }

  #close(lane: Lane, reason: ClosedReason): Candidate[] {
    lane.closed = reason;
    // Empties the lane before its starters are rejected: rejecting them frees slots, which must not be used to claim
    // jobs of this lane.
    const unclaimed = this.#empty(lane);
    // Messages counted against a rate limit may still be sent.
    if (reason === 'failing') {
      for (const starter of lane.ready.empty()) {
        this.#letGo(lane, starter.workspace_id);
        starter.refuse();
      }
    }
    return unclaimed;
  }
}
