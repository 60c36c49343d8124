import { type ClosedReason, FIRST_PACE, type Pace } from '@postrider/core/lanes';
import type { Candidate, LaneLimit, Starter } from './candidate.ts';
import { NO_LANE } from './candidate.ts';

// Mails are claimed ahead of their place, as many as the lane has lately sent in half a second: otherwise a fast
// lane would stand still for each claim, and a slow one would hold mail that another worker could send.
const PERIOD_MS = 500;
const MOST_AHEAD = 200;
export const MOST_WAITING = 600;
/** A lane that was idle may be a fast one; it shows within this time. */
const FRESH_MS = 1000;
const FRESH_WAITING = 400;
const FAST = 20;
/** How far beyond a full lane the mail of workspaces that have little may wait. */
export const SMALL_SHARE = 2;
export const SMALL_SHARES = 64;

/** The queue of one destination in this worker, and how fast it goes. */
export class Lane {
  readonly name: string;
  readonly #now: () => number;
  pace: Pace = FIRST_PACE;
  /** What an operator has set for the destination. */
  limit: LaneLimit | null;
  closed: ClosedReason | null = null;
  /** Claimed, or being claimed. */
  claimed_count = 0;
  /** On a connection, or on the way to one. */
  sending = 0;
  /** Claimed, and waiting for a place. */
  readonly ready: Starter[] = [];
  /** Unclaimed, by workspace, in the order of their turns. */
  readonly waiting = new Map<string, Candidate[]>();
  waiting_count = 0;
  /** Mail of this lane is parked in the database. */
  parked = false;
  /** Workspaces whose mail is parked behind what waits here. */
  readonly parked_workspaces = new Set<string>();
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

  /** How many may be sent at once. */
  cap(): number {
    if (this.name === NO_LANE) return MOST_WAITING;
    return Math.min(this.pace.cap, this.limit?.connections ?? this.pace.cap);
  }

  /** How many may be claimed at once. */
  window(): number {
    return this.cap() + Math.min(MOST_AHEAD, this.#recent());
  }

  /** How many may wait here for their claim. */
  capacity(): number {
    if (this.name === NO_LANE) return Number.POSITIVE_INFINITY;
    const shown = Math.max(2 * this.cap(), Math.min(MOST_WAITING, 2 * this.#recent()));
    return Math.min(
      this.#isFresh() ? Math.max(shown, FRESH_WAITING) : shown,
      this.limit?.messages_per_minute ?? shown + FRESH_WAITING,
    );
  }

  isFast(): boolean {
    return this.closed === null && (this.#isFresh() || this.#recent() >= FAST);
  }

  /** Whether a job may wait here for its claim; otherwise it is parked. */
  mayWait({ job, resumed }: Candidate): boolean {
    if (this.closed) return false;
    const { workspace_id } = job.data;
    if (!resumed && this.parked_workspaces.has(workspace_id)) return false;
    const capacity = this.capacity();
    if (this.waiting_count < capacity) return true;
    const own = this.waiting.get(workspace_id)?.length ?? 0;
    return own < SMALL_SHARE && this.waiting_count < capacity + SMALL_SHARES;
  }

  noteParked(workspace_id: string): void {
    this.parked = true;
    this.parked_workspaces.add(workspace_id);
  }

  /** A server has answered to an attempt. */
  noteFinished(): void {
    this.#roll();
    this.#finished += 1;
  }

  /** Runs what is ready, as far as there are free connections. */
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
