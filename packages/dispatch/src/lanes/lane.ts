import { type ClosedReason, FIRST_PACE, type Pace } from '@postrider/core/lanes';
import type { Priority } from '@postrider/core/priorities';
import type { Candidate, LaneLimit, Starter } from './candidate.ts';
import { NO_LANE } from './candidate.ts';
import { FairLine, type Standing } from './fair-line.ts';

// Jobs are claimed ahead, as many as the lane recently sent in half a second. Otherwise a fast lane would pause for
// each claim, and a slow lane would hold jobs that another worker could send.
const PERIOD_MS = 500;
const MAX_AHEAD = 200;
export const MAX_WAITING = 600;
/** A lane that was idle counts as fast for this long, until its speed is known. */
const FRESH_MS = 1000;
const FRESH_WAITING = 400;
const FAST = 20;
/**
 * Beyond its capacity, a lane accepts up to SMALL_SHARES jobs from workspaces that have fewer than SMALL_SHARE jobs
 * waiting in the lane.
 */
export const SMALL_SHARE = 2;
export const SMALL_SHARES = 64;

export function standingOf({ job, priority }: Candidate): Standing {
  return { workspace_id: job.data.workspace_id, priority };
}

/** The queue of one destination in this worker, and its speed. */
export class Lane {
  readonly name: string;
  readonly #now: () => number;
  pace: Pace = FIRST_PACE;
  /** The operator's limit for the destination. */
  limit: LaneLimit | null;
  closed: ClosedReason | null = null;
  /** Jobs that are claimed or being claimed. */
  claimed_count = 0;
  /** Messages that are connecting or on a connection. */
  sending = 0;
  /** Claimed messages that wait for a connection. */
  readonly ready = new FairLine<Starter>((starter) => starter);
  /** Unclaimed jobs. */
  readonly waiting = new FairLine<Candidate>(standingOf);
  /** The priorities that have jobs of this lane parked in the database. */
  readonly parked = new Set<Priority>();
  /** The workspaces whose jobs are parked behind the jobs that wait here, by priority. */
  readonly #parked_behind: Record<Priority, Set<string>> = { high: new Set(), normal: new Set(), bulk: new Set() };
  busy_since: number;
  last_used: number;
  #period = 0;
  #finished = 0;
  #finished_before = 0;

  constructor(name: string, now: () => number, limit: LaneLimit | null) {
    this.name = name;
    this.#now = now;
    this.limit = limit;
    this.busy_since = now();
    this.last_used = now();
  }

  /** Returns the maximum number of concurrent messages. */
  cap(): number {
    if (this.name === NO_LANE) return MAX_WAITING;
    return Math.min(this.pace.cap, this.limit?.connections ?? this.pace.cap);
  }

  /** Returns how many jobs may be claimed at a time. */
  window(): number {
    return this.cap() + Math.min(MAX_AHEAD, this.#recent());
  }

  /**
   * Returns how many jobs of each priority may wait here for a claim. Bulk email does not take capacity from more
   * urgent email.
   */
  capacity(): number {
    if (this.name === NO_LANE) return Number.POSITIVE_INFINITY;
    const visible = Math.max(2 * this.cap(), Math.min(MAX_WAITING, 2 * this.#recent()));
    return Math.min(
      this.#isFresh() ? Math.max(visible, FRESH_WAITING) : visible,
      this.limit?.messages_per_minute ?? visible + FRESH_WAITING,
    );
  }

  isFast(): boolean {
    return this.closed === null && (this.#isFresh() || this.#recent() >= FAST);
  }

  /** Returns whether a job may wait here for its claim. Otherwise the job is parked. */
  mayWait(candidate: Candidate): boolean {
    if (this.closed) return false;
    const standing = standingOf(candidate);
    const { workspace_id, priority } = standing;
    if (!candidate.resumed && this.#parked_behind[priority].has(workspace_id)) return false;
    const capacity = this.capacity();
    const waiting = this.waiting.countOf(priority);
    if (waiting < capacity) return true;
    return this.waiting.ownCount(standing) < SMALL_SHARE && waiting < capacity + SMALL_SHARES;
  }

  noteParked({ workspace_id, priority }: Standing): void {
    this.parked.add(priority);
    this.#parked_behind[priority].add(workspace_id);
  }

  /** Records that no jobs of a priority, or of one workspace in it, are parked. */
  forgetParked(priority: Priority, workspace_id: string | null): void {
    if (workspace_id !== null) this.#parked_behind[priority].delete(workspace_id);
    else {
      this.parked.delete(priority);
      this.#parked_behind[priority].clear();
    }
  }

  /** Counts an attempt that a server replied to. */
  noteFinished(): void {
    this.#roll();
    this.#finished += 1;
  }

  /** Starts ready messages while connections are free. */
  startReady(): void {
    while (this.sending < this.cap()) {
      const next = this.ready.shift();
      if (!next) return;
      this.sending += 1;
      next.run();
    }
  }

  #isFresh(): boolean {
    return this.#now() - this.busy_since < FRESH_MS && this.pace.closings === 0;
  }

  #recent(): number {
    this.#roll();
    return Math.max(this.#finished, this.#finished_before);
  }

  #roll(): void {
    const period = Math.floor(this.#now() / PERIOD_MS);
    if (period === this.#period) return;
    this.#finished_before = period === this.#period + 1 ? this.#finished : 0;
    this.#finished = 0;
    this.#period = period;
  }
}
