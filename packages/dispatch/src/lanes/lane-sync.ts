import type { Services } from '@postrider/core';
import { lastResponse } from '@postrider/core/delivery';
import {
  closeLane,
  countAgainstLimits,
  type DestinationLimit,
  destinationLimits,
  destinationOfLane,
  type Fetched,
  forgetClosings,
  isHoldLane,
  LANES_PER_POLL,
  type LaneNews,
  laneNews,
  moveParked,
  type ParkedPage,
  parkDeliveries,
  parkedAfter,
  parkedOfWorkspace,
  type Resumed,
  resumeParked,
  type Slice,
  syncLanes,
  transportOfLane,
  WORKSPACES_IN_A_SLICE,
} from '@postrider/core/lanes';
import { type Priority, priorities } from '@postrider/core/priorities';
import { closeSpentLanes, countEmails, returnEmails } from '@postrider/core/transports';
import { isSimulatorLane, type SendOutcome } from '@postrider/mail';
import type { HoldCache } from '../holds/hold-cache.ts';
import { repeatEvery } from '../repeat-task.ts';
import { type Candidate, type LaneLimit, NO_LANE } from './candidate.ts';
import type { Lanes } from './lanes.ts';
import type { TransportSet } from './transport-set.ts';
import { PriorityTurns } from './turns.ts';

const POLL_MS = 1000;
const MAX_SLICE_SIZE = 200;
/** How much parked email is judged by changed rules at a time. */
const JUDGED_TOGETHER = 500;
const FIRST_ID = '00000000-0000-0000-0000-000000000000';
const NO_ADDRESSEE = {
  lane: NO_LANE,
  priority: 'normal',
  email: '',
  mode: 'live',
  from_domain: '',
  api_key_id: null,
  tags: [],
  body_bytes: 0,
  due_at: new Date(0),
  resumed: false,
} as const;

type Mail = Pick<Candidate, 'email' | 'mode' | 'from_domain' | 'api_key_id' | 'tags' | 'priority'> & {
  readonly workspace_id: string;
};

/**
 * Synchronizes the lanes of this worker with the shared state: parks and unparks jobs, publishes closed lanes, and
 * reads limits and the lanes that others closed. After a failure, the job heartbeats and the next poll recover.
 */
export class LaneSync {
  readonly #services: Services;
  readonly #transports: TransportSet;
  readonly #lanes: Lanes;
  readonly #holds: HoldCache;
  readonly #onReady: () => void;
  readonly #onLost: () => void;
  /** The workspace served last, by `priority lane`, if the last slice did not reach the end. */
  readonly #served = new Map<string, string>();
  /** Lanes whose closing is not in the database yet, or was written after the current poll began. */
  readonly #closing = new Map<string, Promise<void>>();
  #limits: ReadonlyMap<string, LaneLimit> = new Map();
  /** The limits and worker count that were applied last. */
  #fingerprint = '';
  /** Where the next poll starts, if there were more lanes than one poll can read. */
  #polled = '';
  /** How many messages may be released now, by hold lane that releases at a rate. */
  readonly #to_release = new Map<string, number>();
  /** The priority that is released next, by hold lane. */
  readonly #release_turns = new Map<string, PriorityTurns>();
  #refilling: Promise<void> | null = null;
  #refill_again = false;
  /** What the claimed emails count against limited transports, by job. */
  readonly #granted = new Map<string, { readonly transport_id: string; readonly day: Date }>();
  /** Writes that no caller awaits. */
  readonly #writes = new Set<Promise<void>>();
  #poller: ReturnType<typeof repeatEvery> | null = null;
  #first_poll: Promise<unknown> | null = null;
  /** Judges parked email by changed rules. */
  #judging: Promise<void> | null = null;
  #stopped = false;

  /**
   * onReady is called when parked jobs may be claimed or lanes have opened; onLost when a move of jobs failed but may
   * have been committed.
   */
  constructor(
    services: Services,
    transports: TransportSet,
    lanes: Lanes,
    holds: HoldCache,
    { onReady, onLost }: { readonly onReady: () => void; readonly onLost: () => void },
  ) {
    this.#services = services;
    this.#transports = transports;
    this.#lanes = lanes;
    this.#holds = holds;
    this.#onReady = onReady;
    this.#onLost = onLost;
    holds.onResume((lane, count) => {
      this.#to_release.set(lane, (this.#to_release.get(lane) ?? 0) + count);
      this.refill();
    });
  }

  start(): void {
    this.#poller = repeatEvery(POLL_MS, () => this.poll(), this.#services);
    // Polls before the first fetch, so that a lane that is held, or was closed by another worker, is not tried.
    this.#first_poll = Promise.all([this.#holds.ready, this.poll()]).catch((error) =>
      this.#services.log.error({ err: error }, 'failed to read lanes'),
    );
  }

  /** Parks the jobs that wait here, for other workers or the next start. */
  async stop(): Promise<void> {
    this.#stopped = true;
    await this.#poller?.stop();
    await this.#first_poll;
    await this.#refilling;
    await this.#judging;
    await this.#park(this.#lanes.empty());
  }

  /** Returns the current writes and refill, or null if there are none. */
  pending(): Promise<unknown> | null {
    if (!this.#refilling && !this.#judging && this.#writes.size === 0) return null;
    return Promise.all([this.#refilling, this.#judging, ...this.#writes]);
  }

  /**
   * Assigns fetched jobs to their lanes and parks those that cannot wait here. Returns the priorities of parked jobs
   * that belong to fast lanes and could have stayed in the queue.
   */
  async place(fetched: readonly Fetched[]): Promise<Priority[]> {
    await this.#first_poll;
    // Without the rules, email could leave by a transport that they forbid.
    if (!this.#transports.isReady()) await this.#transports.poll();
    const candidates = fetched.map(({ job, priority, addressee }): Candidate => {
      if (!addressee) return { ...NO_ADDRESSEE, job };
      const { due_at, body_bytes } = addressee;
      const { email, mode, from_domain, api_key_id, tags } = addressee;
      const facts = { email, mode, from_domain, api_key_id, tags, priority };
      const lane = this.#laneOf({ ...facts, workspace_id: job.data.workspace_id });
      return { ...facts, job, lane, body_bytes, due_at, resumed: false };
    });
    const parked = this.#admit(candidates);
    await this.#park(parked);
    return parked.flatMap(({ lane, priority }) => (!isHoldLane(lane) && this.#lanes.isFast(lane) ? [priority] : []));
  }

  /**
   * Returns the candidates within the limits of their destinations and transports. The others go to another transport
   * of their rule, or are parked.
   */
  async grant(candidates: readonly Candidate[]): Promise<Candidate[]> {
    const over_destination = await this.#overDestinations(candidates);
    const within = without(candidates, over_destination);
    const { rejected, spent } = await this.#overTransports(within);
    // Only now, so that a failed count leaves all slots to the caller.
    for (const { lane, job } of [...over_destination, ...rejected]) this.#lanes.giveBack(lane, job.data.workspace_id);
    const lanes = new Set(over_destination.map(({ lane }) => lane));
    const left = [...lanes].flatMap((lane) => this.#lanes.close(lane, 'limit', 0));
    this.#parkSoon([...over_destination, ...left]);
    for (const { lanes, until } of spent) this.#closeSpent(lanes, until);
    if (rejected.length > 0) this.#moveOn(rejected);
    return without(within, rejected);
  }

  /** Returns the candidates beyond the limits of their destinations. */
  async #overDestinations(candidates: readonly Candidate[]): Promise<Candidate[]> {
    const limited = candidates.filter(
      ({ lane }) => this.#limits.get(destinationOfLane(lane))?.messages_per_minute != null,
    );
    if (limited.length === 0) return [];
    // A destination has one limit over all transports.
    const by_destination = Map.groupBy(limited, ({ lane }) => destinationOfLane(lane));
    const granted = await countAgainstLimits(
      this.#services.sql,
      [...by_destination].map(([destination, { length: count }]) => ({ destination, count })),
    );
    return [...by_destination].flatMap(([name, group]) => group.slice(granted.get(name) ?? group.length));
  }

  /** Returns the candidates beyond the limits of their transports, and the lanes whose limit is used up. */
  async #overTransports(candidates: readonly Candidate[]): Promise<{
    readonly rejected: readonly Candidate[];
    readonly spent: readonly { readonly lanes: readonly string[]; readonly until: Date }[];
  }> {
    const limited = candidates.filter(({ lane }) => this.#transports.isLimited(lane));
    if (limited.length === 0) return { rejected: [], spent: [] };
    const by_transport = Map.groupBy(limited, ({ lane }) => transportOfLane(lane));
    const grants = await countEmails(
      this.#services.sql,
      [...by_transport].map(([transport_id, { length: count }]) => ({ transport_id, count })),
    );
    const over = grants.map(({ transport_id, granted, day, spent_until }) => {
      const group = by_transport.get(transport_id) ?? [];
      if (day) for (const { job } of group.slice(0, granted)) this.#granted.set(job.id, { transport_id, day });
      return { rejected: group.slice(granted), spent_until };
    });
    return {
      rejected: over.flatMap(({ rejected }) => rejected),
      spent: over.flatMap(({ rejected, spent_until: until }) =>
        until ? [{ lanes: rejected.map(({ lane }) => lane), until }] : [],
      ),
    };
  }

  /** Closes the lanes of a transport whose limit is used up, here and for the other workers. */
  #closeSpent(lanes: readonly string[], until: Date): void {
    const names = [...new Set(lanes)];
    const write = closeSpentLanes(this.#services.sql, names, until).finally(() => {
      for (const lane of names) if (this.#closing.get(lane) === writing) this.#closing.delete(lane);
    });
    const writing = this.#write(write, { lanes: names }, 'a used-up limit could not be published to the other workers');
    for (const lane of names) this.#closing.set(lane, writing);
    this.#moveOn(names.flatMap((lane) => this.#lanes.close(lane, 'transport_limit', 0)));
  }

  /** Sends candidates whose lane has closed through another transport of their rule, or parks them. */
  #moveOn(candidates: readonly Candidate[]): void {
    const moved = candidates.map((candidate) => ({ ...candidate, lane: this.#laneOf(mailOf(candidate)) }));
    const closed = moved.filter(({ lane }) => this.#lanes.isClosed(lane));
    this.#parkSoon([...closed, ...this.#admit(without(moved, closed))]);
    this.#onReady();
  }

  /** Counts one email against the limits of a lane's transport. Returns whether they allow it. */
  async takeOne({ job }: Candidate, lane: string): Promise<boolean> {
    if (!this.#transports.isLimited(lane)) return true;
    const transport_id = transportOfLane(lane);
    const [grant] = await countEmails(this.#services.sql, [{ transport_id, count: 1 }]);
    if (grant?.spent_until) this.#closeSpent([lane], grant.spent_until);
    if (grant?.granted === 0) return false;
    if (grant?.day) this.#granted.set(job.id, { transport_id, day: grant.day });
    return true;
  }

  /** Settles what an email counts against its transport: it was accepted, or else does not count any more. */
  noteSent(job_id: string, was_sent: boolean): void {
    const grant = this.#granted.get(job_id);
    if (!grant) return;
    this.#granted.delete(job_id);
    if (was_sent) return;
    const { transport_id, day } = grant;
    const write = returnEmails(this.#services.sql, transport_id, day, 1);
    this.#write(write, { transport_id }, 'an email that was not sent still counts against its transport');
  }

  /** Notifies the lane that an attempt has ended. The outcome is null if the attempt says nothing about the server. */
  done(lane: string, workspace_id: string, outcome: SendOutcome | null, crowded: boolean): void {
    const result = crowded ? 'crowded' : outcome && laneResultOf(lane, outcome);
    const { closed, recovered } = this.#lanes.done(lane, workspace_id, result);
    if (closed && outcome) {
      const { seconds, closings, left } = closed;
      this.#publishClosed(lane, { lane, seconds, closings, last_reply: lastResponse(outcome) });
      this.#moveOn(left);
    }
    if (recovered) {
      this.#write(forgetClosings(this.#services.sql, lane), { lane }, 'a lane could not be recorded as recovered');
    }
  }

  /** Resumes parked jobs for lanes that have capacity, one refill at a time. */
  refill(): void {
    if (this.#stopped || this.#holds.isPaused('delivery.attempt')) return;
    if (this.#refilling) {
      this.#refill_again = true;
      return;
    }
    this.#refill_again = false;
    this.#refilling = this.#resume()
      .catch((error) => {
        this.#services.log.error({ err: error }, 'failed to resume parked email');
        this.#onLost();
      })
      .then(() => {
        this.#refilling = null;
        if (this.#refill_again) this.refill();
      });
  }

  /** Returns the lane of the hold that applies to a candidate, or null if there is none. */
  holdLaneFor(candidate: Candidate): string | null {
    return this.#holdLaneOf(mailOf(candidate));
  }

  /**
   * Returns the lane of a candidate's next transport, after that of a lane whose server was not reached; null if there
   * is none that is open.
   */
  laneAfter(candidate: Candidate, lane: string): string | null {
    if (candidate.mode === 'sandbox') return null;
    const lanes = this.#lanesOf(mailOf(candidate));
    const at = lanes.indexOf(lane);
    return at < 0 ? null : (lanes.slice(at + 1).find((next) => !this.#lanes.isClosed(next)) ?? null);
  }

  /** Reassigns waiting jobs to lanes after holds or limits have changed. */
  reassign(): void {
    const moved = this.#lanes.empty().map((candidate) => ({
      ...candidate,
      lane: candidate.lane === NO_LANE ? NO_LANE : this.#laneOf(mailOf(candidate)),
      resumed: true,
    }));
    this.#parkSoon(this.#admit(moved));
  }

  /** Applies lane changes made by other workers, operators and the clock. */
  async poll(): Promise<void> {
    const lanes = this.#lanes;
    const { sql, jobs } = this.#services;
    const busy = new Set(this.#closing.keys());
    const [rows, limits] = await Promise.all([
      syncLanes(sql, this.#polled),
      destinationLimits(sql),
      this.#transports.poll(),
    ]);
    const workers = limits.length > 0 || this.#transports.limitsConnections() ? await jobs.workerCount() : 1;
    const parked = rows.flatMap((row) => (row.parked.length > 0 ? [row.lane] : []));
    this.#polled = parked.length < LANES_PER_POLL ? '' : (parked.sort().at(-1) ?? '');
    const closed = new Set<string>();
    const limited = new Set<string>();
    const byLane = new Map(rows.map((row) => [row.lane, row]));
    for (const row of rows) {
      if (row.closed) closed.add(row.lane);
      if (row.closed && row.reason === 'limit') limited.add(row.lane);
      if (row.closed && row.reason && !lanes.isClosed(row.lane))
        this.#parkSoon(lanes.close(row.lane, row.reason, row.closings));
      for (const priority of row.parked) lanes.setBacklog(row.lane, priority, true);
    }
    // Lanes that closed here during this poll are not in its result.
    for (const lane of lanes.closed()) {
      // The limit of a destination closes it on all transports.
      if (closed.has(lane) || limited.has(destinationOfLane(lane))) continue;
      if (!busy.has(lane) && !this.#closing.has(lane)) lanes.open(lane, byLane.get(lane)?.closings ?? 0);
    }
    const has_new_rules = this.#transports.takeChange();
    this.#setLimits(limits, workers, { has_new_rules, has_new_limits: this.#transports.takeNewLimits() });
    if (this.#transports.hasUnjudged() || this.#transports.hasUnjudgedWorkspaces()) this.#judgeParked();
    this.#parkSoon(lanes.trim());
    this.refill();
    this.#onReady();
  }

  #holdLaneOf({ workspace_id, mode, email, from_domain, api_key_id }: Mail): string | null {
    const lane = mode === 'sandbox' ? null : (this.#transports.senderFor('', mode)?.mailer.laneOf(email) ?? null);
    return this.#holds.holdLaneFor({ workspace_id, from_domain, api_key_id, email, lane });
  }

  #laneOf(mail: Mail): string {
    const { mode, email } = mail;
    const hold_lane = this.#holdLaneOf(mail);
    if (hold_lane !== null) return hold_lane;
    if (mode === 'sandbox') return `sandbox ${this.#transports.senderFor('', mode)?.mailer.laneOf(email)}`;
    const lanes = this.#lanesOf(mail);
    const open = lanes.find((lane) => !this.#lanes.isClosed(lane));
    // Otherwise it waits for a server that may be back within minutes, rather than for a limit that lasts the day.
    return open ?? lanes.find((lane) => this.#lanes.isFailing(lane)) ?? lanes[0] ?? NO_LANE;
  }

  #lanesOf(mail: Mail): string[] {
    return this.#transports.lanesOf(mail, (domain) => this.#limits.has(domain));
  }

  /** Moves parked email whose transport a changed rule does not allow: all of it, or that of a changed workspace. */
  #judgeParked(): void {
    if (this.#judging || this.#stopped) return;
    const { sql, log } = this.#services;
    const transports = this.#transports;
    const judge = async () => {
      if (transports.hasUnjudged()) {
        const version = transports.version();
        if (await this.#judgePages((after) => parkedAfter(sql, after, JUDGED_TOGETHER)))
          await transports.noteJudged(version);
      }
      for (let id = transports.takeUnjudged(); id !== null; id = transports.takeUnjudged()) {
        const workspace_id = id;
        await this.#judgePages((after) => parkedOfWorkspace(sql, workspace_id, after, JUDGED_TOGETHER));
      }
    };
    this.#judging = judge()
      .catch((error) => log.error({ err: error }, 'failed to judge parked email by changed rules'))
      .then(() => {
        this.#judging = null;
        this.refill();
      });
  }

  /** Judges parked email page by page. Returns false if this worker stops before the end. */
  async #judgePages(pageAfter: (after: string) => Promise<ParkedPage>): Promise<boolean> {
    for (let after = FIRST_ID; !this.#stopped; ) {
      const { emails, last } = await pageAfter(after);
      const moves = emails
        .filter((email) => email.mode === 'live' && !this.#transports.allows(email, email.lane))
        .map((email) => ({
          job_id: email.job_id,
          priority: email.priority,
          from: email.lane,
          to: this.#laneOf(email),
        }));
      await moveParked(this.#services.sql, moves);
      for (const { to, priority } of moves) this.#lanes.setBacklog(to, priority, true);
      if (last === null) return true;
      after = last;
    }
    return false;
  }

  /** Queues jobs in their lanes. Returns those that must be parked, including all that a hold blocks. */
  #admit(candidates: readonly Candidate[]): Candidate[] {
    if (this.#holds.isPaused('delivery.attempt')) return [...candidates];
    const held_candidates = candidates.filter(({ lane }) => isHoldLane(lane));
    if (held_candidates.length === 0) return this.#lanes.admit(candidates);
    return [...held_candidates, ...this.#lanes.admit(candidates.filter(({ lane }) => !isHoldLane(lane)))];
  }

  async #park(candidates: readonly Candidate[]): Promise<void> {
    // Jobs with nothing to send are not parked; they return to the queue when their heartbeat expires.
    const parked = candidates.filter(({ lane }) => lane !== NO_LANE);
    if (parked.length === 0) return;
    for (const { lane, priority } of parked) this.#lanes.setBacklog(lane, priority, true);
    await parkDeliveries(
      this.#services,
      parked.map(({ job, lane, priority, due_at }) => ({ ...job.data, job, lane, priority, due_at })),
    );
  }

  #parkSoon(candidates: readonly Candidate[]): void {
    if (candidates.length === 0) return;
    this.#write(this.#park(candidates), { count: candidates.length }, 'mail could not be parked');
  }

  #publishClosed(lane: string, closing: Parameters<typeof closeLane>[1]): void {
    const { sql, log } = this.#services;
    log.warn({ lane, seconds: closing.seconds, reply: closing.last_reply }, 'closed a lane temporarily');
    const write = closeLane(sql, closing).finally(() => {
      if (this.#closing.get(lane) === writing) this.#closing.delete(lane);
    });
    const writing = this.#write(write, { lane }, 'a closed lane could not be published to the other workers');
    this.#closing.set(lane, writing);
  }

  #write(write: Promise<unknown>, facts: object, failure: string): Promise<void> {
    const writing: Promise<void> = write
      .then(() => undefined)
      .catch((error) => {
        this.#services.log.error({ err: error, ...facts }, failure);
        this.#onLost();
      })
      .finally(() => {
        this.#writes.delete(writing);
      });
    this.#writes.add(writing);
    return writing;
  }

  #setLimits(
    limits: readonly DestinationLimit[],
    workers: number,
    { has_new_rules, has_new_limits }: { readonly has_new_rules: boolean; readonly has_new_limits: boolean },
  ): void {
    const next = JSON.stringify([limits, workers]);
    const reassigns = next !== this.#fingerprint || has_new_rules;
    if (!reassigns && !has_new_limits) return;
    this.#fingerprint = next;
    // Each worker gets its share of the connections, and at least one.
    const shareOf = (connections: number | null) =>
      connections === null ? null : Math.max(1, Math.floor(connections / workers));
    this.#limits = new Map(
      limits.map(({ destination, connections, messages_per_minute }) => [
        destination,
        {
          connections: shareOf(connections),
          messages_per_minute,
        },
      ]),
    );
    this.#lanes.setLimits((lane) => {
      const limit = this.#limits.get(destinationOfLane(lane)) ?? null;
      const own = shareOf(this.#transports.connectionsOf(lane));
      if (own === null) return limit;
      return {
        connections: Math.min(own, limit?.connections ?? own),
        messages_per_minute: limit?.messages_per_minute ?? null,
      };
    });
    // A limited domain has its own lane. Without the limit, it shares the lane of its destination again. A change of one
    // workspace must not send the email of all others back to their queues.
    if (reassigns) this.reassign();
  }

  async #resume(): Promise<void> {
    const short = this.#lanes.shortages().filter(({ lane }) => !this.#holds.guards(lane));
    const to_release = [...this.#to_release];
    this.#to_release.clear();
    if (short.length === 0 && to_release.length === 0) return;
    const rows = await this.#takeBack(
      short.map((slice) => ({ ...slice, count: Math.min(slice.count, MAX_SLICE_SIZE) })),
    );
    for (const [lane, count] of to_release) rows.push(...(await this.#releaseHeld(lane, count)));
    const candidates = rows.map((row): Candidate => {
      const { job_id, workspace_id, message_id, recipient_id, lane: _, ...facts } = row;
      const job = { id: job_id, retry_count: 0, data: { workspace_id, message_id, recipient_id } };
      return { ...facts, job, lane: this.#laneOf(row), resumed: true };
    });
    await this.#park(this.#admit(candidates));
    this.#onReady();
  }

  async #takeBack(stale: readonly Omit<Slice, 'after'>[]): Promise<Resumed[]> {
    const slices = stale.map((slice) => ({ ...slice, after: this.#served.get(sliceName(slice)) ?? '' }));
    const rows = await resumeParked(this.#services, slices);
    const by_slice = Map.groupBy(rows, sliceName);
    for (const slice of slices) this.#recordTaken(slice, by_slice.get(sliceName(slice)) ?? []);
    return [...rows];
  }

  /** Releases jobs of a hold lane by priority weight. If one priority has too few, the others make up the count. */
  async #releaseHeld(lane: string, count: number): Promise<Resumed[]> {
    const turns = this.#release_turns.get(lane) ?? new PriorityTurns();
    this.#release_turns.set(lane, turns);
    const shares: Record<Priority, number> = { high: 0, normal: 0, bulk: 0 };
    for (let turn = 0; turn < count; turn++) shares[turns.next(() => true) ?? 'normal'] += 1;
    const eligible = priorities.filter((priority) => shares[priority] > 0);
    const rows = await this.#takeBack(eligible.map((priority) => ({ lane, priority, count: shares[priority] })));
    for (const priority of priorities) {
      const missing = count - rows.length;
      if (missing > 0) rows.push(...(await this.#takeBack([{ lane, priority, count: missing }])));
    }
    if (rows.length < count) this.#release_turns.delete(lane);
    return rows;
  }

  /**
   * Records where the next slice of a lane starts. Also records the workspaces that, according to this slice, have no
   * jobs left parked in the lane.
   */
  #recordTaken(slice: Slice, rows: readonly Resumed[]): void {
    const { lane, priority, count, after } = slice;
    const by_workspace = Map.groupBy(rows, (row) => row.workspace_id);
    const last = [...by_workspace.keys()].sort().at(-1);
    const complete = by_workspace.size < WORKSPACES_IN_A_SLICE;
    if (complete || last === undefined) this.#served.delete(sliceName(slice));
    else this.#served.set(sliceName(slice), last);
    const share = Math.ceil(count / Math.max(1, by_workspace.size));
    let remaining = 0;
    for (const [workspace_id, own] of by_workspace) {
      if (own.length < share) this.#lanes.drained(lane, { workspace_id, priority });
      else remaining += 1;
    }
    if (complete && after === '' && remaining === 0) this.#lanes.setBacklog(lane, priority, false);
  }
}

function without<T>(all: readonly T[], some: readonly T[]): T[] {
  const out = new Set(some);
  return all.filter((one) => !out.has(one));
}

function mailOf(candidate: Candidate): Mail {
  return { ...candidate, workspace_id: candidate.job.data.workspace_id };
}

function sliceName({ lane, priority }: Pick<Slice, 'lane' | 'priority'>): string {
  return `${priority} ${lane}`;
}

/**
 * Returns the result that an attempt has for its lane. A failure that a simulator script simulates counts as an answer,
 * because it must not close the lane for other messages.
 */
function laneResultOf(lane: string, outcome: SendOutcome): LaneNews | null {
  const result = laneNews(outcome);
  return isSimulatorLane(lane) && result !== null && result !== 'taken' ? 'answered' : result;
}
