import type { ClaimQuota, EndpointLease } from '@postrider/core/webhooks';

export type { ClaimQuota, EndpointLease };

/** A lease that is given up, and whether nothing was claimed under it. */
export interface EndedLease extends EndpointLease {
  readonly idle: boolean;
}

/** At most so many posts to one endpoint at a time. */
const MOST_POSTING = 4;
// Deliveries are claimed ahead, as many as the endpoint has lately taken in half a second: otherwise a fast endpoint
// would wait for each claim, and a slow one would hold deliveries after it is switched off.
const PERIOD_MS = 500;
const FIRST_AHEAD = 4;
const MOST_AHEAD = 100;
// The longest time of one lease, so that another worker, or an endpoint behind many long queues, gets a turn.
const LEASE_MS = 5000;

interface Lane<T> {
  /** Claimed, and not being posted yet. */
  readonly waiting: T[];
  posting: number;
  /** Claimed and not recorded yet. */
  claimed_count: number;
  failing: boolean;
  period: number;
  taken: number;
  taken_before: number;
  /** Null if another worker has the endpoint lease. */
  lease: EndpointLease | null;
  begun_at: number;
  /** Something is due that was not asked for yet. */
  wants: boolean;
  /** A claim for it is under way. */
  asking: boolean;
  /** Nothing was claimed under this lease. */
  idle: boolean;
}

/** The endpoints leased by this worker, and the number of deliveries to claim for each. No I/O. */
export class EndpointLanes<T> {
  readonly #now: () => number;
  readonly #lanes = new Map<string, Lane<T>>();
  #claimed = 0;
  #closed = false;

  constructor(now: () => number) {
    this.#now = now;
  }

  /** A lease has begun: the endpoint is this worker's until it ends. */
  begin(lease: EndpointLease): void {
    const lane = this.#laneOf(lease.webhook_id);
    lane.lease = lease;
    lane.begun_at = this.#now();
    lane.wants = true;
    lane.idle = true;
  }

  /** Something may be due at an endpoint, or at all of them. */
  markDue(webhook_id?: string): void {
    if (webhook_id === undefined) for (const lane of this.#lanes.values()) lane.wants = true;
    else {
      const lane = this.#lanes.get(webhook_id);
      if (lane) lane.wants = true;
    }
  }

  /** How much the next claim takes for which endpoints. Each that is named here is to be reported by claimed. */
  ask(free: number): readonly ClaimQuota[] {
    this.#forgetIdle();
    const share = Math.max(MOST_POSTING, Math.floor(free / Math.max(1, this.#lanes.size)));
    let left = free;
    const quotas: ClaimQuota[] = [];
    for (const [webhook_id, lane] of this.#lanes) {
      if (lane.lease === null || !lane.wants || lane.asking || this.#isOver(lane)) continue;
      const count = Math.min(this.#windowOf(lane) - lane.claimed_count, share, left);
      if (count <= 0) continue;
      lane.wants = false;
      lane.asking = true;
      left -= count;
      quotas.push({ webhook_id, holder: lane.lease.holder, count });
    }
    return quotas;
  }

  /** What a claim has brought for an endpoint that was asked for; all of it is to be settled. */
  claimed(id: string, posts: readonly T[], count: number, asked: number): void {
    const lane = this.#laneOf(id);
    lane.asking = false;
    lane.waiting.push(...posts);
    lane.claimed_count += count;
    this.#claimed += count;
    if (count > 0) lane.idle = false;
    if (count >= asked) lane.wants = true;
  }

  /** What may be posted to an endpoint now. */
  start(id: string): readonly T[] {
    const lane = this.#laneOf(id);
    const started = lane.waiting.splice(0, MOST_POSTING - lane.posting);
    lane.posting += started.length;
    return started;
  }

  /** A post has ended. An endpoint that did not take it loses what waits here for it. */
  ended(id: string, taken: boolean): readonly T[] {
    const lane = this.#laneOf(id);
    lane.posting -= 1;
    lane.failing = !taken;
    if (!taken) return lane.waiting.splice(0);
    this.#roll(lane);
    lane.taken += 1;
    return [];
  }

  /** A result is recorded, or what waited was handed back. */
  settled(id: string): void {
    this.#laneOf(id).claimed_count -= 1;
    this.#claimed -= 1;
  }

  /** Takes out what waits for an endpoint. */
  drop(id: string): readonly T[] {
    return this.#lanes.get(id)?.waiting.splice(0) ?? [];
  }

  /** Ends the leases that have nothing left to do but to record so many results for each endpoint. */
  release(recording: ReadonlyMap<string, number>): readonly EndedLease[] {
    const ended: EndedLease[] = [];
    for (const [id, lane] of this.#lanes) {
      if (lane.lease === null || lane.asking || lane.claimed_count > (recording.get(id) ?? 0)) continue;
      if (lane.wants && !this.#isOver(lane)) continue;
      ended.push({ ...lane.lease, idle: lane.idle && !this.#closed });
      lane.lease = null;
    }
    return ended;
  }

  /** A lease was lost to another worker. */
  lose(lease: EndpointLease): void {
    const lane = this.#lanes.get(lease.webhook_id);
    if (lane?.lease === lease) lane.lease = null;
  }

  /** Ends all leases as soon as possible, whatever is due. */
  close(): void {
    this.#closed = true;
  }

  /** Whether an endpoint with due deliveries has half of its window free. */
  hungry(): boolean {
    for (const lane of this.#lanes.values()) {
      if (lane.lease === null || !lane.wants || lane.asking || this.#isOver(lane)) continue;
      if (lane.claimed_count <= this.#windowOf(lane) / 2) return true;
    }
    return false;
  }

  /** Endpoints for which something is claimed here. */
  ids(): readonly string[] {
    return [...this.#lanes].flatMap(([id, lane]) => (lane.claimed_count > 0 ? [id] : []));
  }

  leases(): readonly EndpointLease[] {
    return [...this.#lanes.values()].flatMap(({ lease }) => (lease === null ? [] : [lease]));
  }

  claimedCount(): number {
    return this.#claimed;
  }

  #laneOf(id: string): Lane<T> {
    let lane = this.#lanes.get(id);
    if (!lane) {
      lane = {
        waiting: [],
        posting: 0,
        claimed_count: 0,
        failing: false,
        period: 0,
        taken: 0,
        taken_before: 0,
        lease: null,
        begun_at: 0,
        wants: false,
        asking: false,
        idle: true,
      };
      this.#lanes.set(id, lane);
    }
    return lane;
  }

  #roll(lane: Lane<T>): void {
    const period = Math.floor(this.#now() / PERIOD_MS);
    if (period === lane.period) return;
    lane.taken_before = period === lane.period + 1 ? lane.taken : 0;
    lane.taken = 0;
    lane.period = period;
  }

  /** How much of an endpoint may be held at once. */
  #windowOf(lane: Lane<T>): number {
    if (lane.failing) return MOST_POSTING;
    this.#roll(lane);
    const recent = Math.max(lane.taken, lane.taken_before);
    return MOST_POSTING + Math.min(MOST_AHEAD, Math.max(FIRST_AHEAD, recent));
  }

  #forgetIdle(): void {
    for (const [id, lane] of this.#lanes) {
      const as_new = lane.failing || this.#windowOf(lane) === MOST_POSTING + FIRST_AHEAD;
      if (lane.lease === null && lane.claimed_count === 0 && as_new) this.#lanes.delete(id);
    }
  }

  #isOver(lane: Lane<T>): boolean {
    return this.#closed || this.#now() - lane.begun_at > LEASE_MS;
  }
}
