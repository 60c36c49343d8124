import type { Services } from '@postrider/core';
import {
  type AttemptWatch,
  attemptDelivery,
  type Claimed,
  type Content,
  claimDeliveries,
  type DeliveryJob,
  type Mailers,
  reachStep,
  type Settled,
  unansweredDelivery,
  unsentDelivery,
} from '@postrider/core/delivery';
import { isTurnedAway, MAX_CAP, transportOfLane } from '@postrider/core/lanes';
import { DEFAULT_TRANSPORT } from '@postrider/core/transports';
import { failedUnderway, followedBy, type SendOutcome } from '@postrider/mail';
import { HoldCache } from '../holds/hold-cache.ts';
import { type Candidate, NO_LANE } from '../lanes/candidate.ts';
import { LaneSync } from '../lanes/lane-sync.ts';
import { Lanes } from '../lanes/lanes.ts';
import { LargeEmailMemory } from '../lanes/large-email-memory.ts';
import { TransportSet } from '../lanes/transport-set.ts';
import type { QueueMetrics } from '../metrics/worker-metrics.ts';
import { type BatchingPolicy, createBatchingPolicy, onFlush, SETTLE_MS } from './batching-policy.ts';
import { FETCH_COUNT, Fetcher, MAX_IN_FLIGHT } from './fetcher.ts';
import { createHeartbeat, type Heartbeat } from './heartbeat.ts';
import { type InFlight, newInFlight } from './in-flight.ts';
import { createInFlightSet } from './in-flight-set.ts';
import { LeaseLoops } from './lease-loops.ts';
import { LostReplies } from './lost-replies.ts';
import { createPrerender } from './prerender.ts';
import { Settler } from './settler.ts';
import { type ContentSlot, UnrecordedMail } from './unrecorded.ts';

// Enough to keep every signing thread busy.
const MAX_PRERENDERED = 128;
// Offsets from the end of the grace period of a stop. At the first, messages past the end of DATA without a reply are
// recorded as unknown; a second later, the pump gives up on an unresponsive database.
const UNANSWERED_BEFORE_MS = 2000;
const GIVE_UP_BEFORE_MS = 1000;
/** Delay before email whose transport this worker cannot use is due again. */
const UNUSABLE_SECONDS = 5;

export interface DeliveryPumpOptions {
  readonly services: Services;
  /** The transports by mode. */
  readonly mailers: Mailers;
  readonly holds: HoldCache;
  readonly metrics: QueueMetrics | null;
  /** Decides when results are recorded. The default adapts to the traffic. */
  readonly batching?: BatchingPolicy;
}

/**
 * Moves deliveries: fetch → lane → claim → prepare → send → settle. A batch never waits for its slowest member. Idle
 * until start or drain is called.
 */
export class DeliveryPump {
  readonly #services: Services;
  readonly #transports: TransportSet;
  readonly #holds: HoldCache;
  readonly #metrics: QueueMetrics | null;
  /** Claimed deliveries whose results are not in the database yet. */
  readonly #inFlight = createInFlightSet<InFlight>();
  readonly #lanes: Lanes;
  readonly #sync: LaneSync;
  readonly #fetcher: Fetcher;
  readonly #settler: Settler;
  readonly #large_memory: LargeEmailMemory;
  readonly #prerender = createPrerender(MAX_PRERENDERED);
  readonly #unrecorded: UnrecordedMail;
  /** The current claim. Only one runs at a time. */
  #claiming: Promise<void> | null = null;
  #claimed: readonly Candidate[] = [];
  /** True if jobs arrived or slots became free during the current claim. */
  #claim_again = false;
  #stopped = false;
  #heartbeat: Heartbeat | null = null;
  #leaseLoops: LeaseLoops | null = null;
  #lostAnswers: LostReplies | null = null;
  #unsubscribe: (() => void) | null = null;
  /** The jobs that a drain has claimed; null if this pump is not draining. */
  #drained: DeliveryJob[] | null = null;
  /** Set by a drain; called when a claim, send or settle has ended. */
  #onProgress: (() => void) | null = null;

  constructor({ services, mailers, holds, metrics, batching }: DeliveryPumpOptions) {
    this.#services = services;
    this.#transports = new TransportSet(services, mailers);
    this.#holds = holds;
    this.#metrics = metrics;
    this.#large_memory = new LargeEmailMemory(services.metrics);
    this.#unrecorded = new UnrecordedMail(batching ? null : services.config.LIMITS.unrecorded_mails);
    const { site_longest_pause, relay_longest_pause } = services.config.LIMITS;
    const settingsOf = (lane: string) => {
      // A mailer with its own width, such as a relay, uses the longest pause for relays.
      const mode = lane.startsWith('sandbox ') ? 'sandbox' : 'live';
      const width = this.#transports.senderFor(lane, mode)?.mailer.width;
      return width === undefined
        ? { width: MAX_CAP, longest_pause_ms: site_longest_pause }
        : { width, longest_pause_ms: relay_longest_pause };
    };
    this.#lanes = new Lanes(() => performance.now(), this.#large_memory, settingsOf);
    const onLost = () => this.#lostAnswers?.note();
    this.#sync = new LaneSync(services, this.#transports, this.#lanes, holds, { onReady: this.#claimSoon, onLost });
    this.#fetcher = new Fetcher({
      services,
      holds,
      lanes: this.#lanes,
      sync: this.#sync,
      inFlight: () => this.#inFlight.size,
      onPlaced: this.#claimSoon,
      onLost,
    });
    this.#settler = new Settler(
      services,
      batching ??
        createBatchingPolicy(
          () => this.#most(),
          () => this.#unrecorded.limit,
        ),
      (count, took_ms) => {
        this.#heartbeat?.ended(count);
        this.#unrecorded.noteSettle(count, took_ms);
      },
      (entries) => this.#settled(entries),
    );
  }

  /** Starts the loops: they fetch, renew leases and listen until stop() is called. */
  start(): void {
    this.#heartbeat = createHeartbeat(this.#services);
    this.#services.vitals.fetched_at = performance.now();
    this.#services.metrics.source('unrecorded_mails_limit', () => this.#unrecorded.most);
    this.#sync.start();
    this.#leaseLoops = new LeaseLoops(this.#services, this.#inFlight, this.#lanes, (entry) => this.#cancel(entry));
    this.#lostAnswers = new LostReplies(this.#services, () =>
      [
        ...[...this.#inFlight].map(({ claimed }) => claimed.job),
        ...[...this.#lanes.waiting(), ...this.#claimed].map(({ job }) => job),
      ].map(({ id }) => id),
    );
    this.#metrics?.watch('delivery.attempt', {
      active: () => ({ active: this.#inFlight.size, job_ids: [] }),
      changed: this.#claimSoon,
    });
    this.#unsubscribe = this.#services.jobs.onWake('delivery.attempt', this.#fetcher.poll);
    this.#holds.onChange(() => {
      if (!this.#stopped) this.#onHolds();
    });
    this.#holds.onAllowance(() => {
      if (this.#stopped) return;
      this.#fetcher.poll();
      this.#claimSoon();
    });
    this.#fetcher.poll();
  }

  /** Resolves once this worker is registered in the database. */
  async announced(): Promise<void> {
    await this.#heartbeat?.first;
  }

  /**
   * Puts jobs back in the queue unless their end of DATA has been sent, waits for the replies to the rest, and parks
   * jobs that wait for a claim.
   */
  async stop(): Promise<void> {
    this.#stopped = true;
    this.#unsubscribe?.();
    for (const entry of this.#inFlight) this.#cancel(entry);
    const fetched = this.#fetcher.stop();
    const deadlines = this.#startDeadlines();
    let parked = false;
    const park = async () => {
      await fetched;
      await this.#claiming;
      await this.#sync.stop();
    };
    void park()
      .catch((error) => this.#services.log.error({ err: error }, 'failed to park email that waits for a lane'))
      .then(() => {
        parked = true;
      });
    while ((!parked || this.#inFlight.size > 0) && !this.#settler.given_up) {
      this.#settler.flush();
      await new Promise((resolve) => setTimeout(resolve, SETTLE_MS));
    }
    for (const deadline of deadlines) clearTimeout(deadline);
    // What was not sent is returned to the limits of its transport.
    await this.#sync.pending();
    await this.#leaseLoops?.stop();
    await this.#lostAnswers?.stop();
    await this.#heartbeat?.stop();
    await this.#transports.stop();
  }

  /**
   * Used instead of start and stop. Sends all due messages until nothing is left, waiting only for servers and the
   * database, and parks jobs that no lane accepts. Returns the claimed jobs.
   */
  async drain(): Promise<DeliveryJob[]> {
    const drained: DeliveryJob[] = [];
    this.#drained = drained;
    await this.#holds.poll();
    await this.#sync.poll();
    for (let has_more = true; has_more; ) {
      const before = drained.length;
      const fetched = this.#isPaused() ? 0 : await this.#fetcher.fetchAll();
      this.#claimSoon();
      await this.#waitUntilIdle();
      has_more = fetched > 0 || drained.length > before;
    }
    await this.#sync.stop();
    await this.#transports.stop();
    return drained;
  }

  /**
   * Claims the jobs that the lanes offer, one claim at a time. Jobs that arrive meanwhile are part of the next claim.
   */
  readonly #claimSoon = (): void => {
    if (this.#stopped || this.#isPaused()) return;
    if (this.#claiming) {
      this.#claim_again = true;
      return;
    }
    const free = Math.max(0, this.#most() - this.#inFlight.size);
    const allowance = this.#holds.allowance('delivery.attempt') ?? Number.POSITIVE_INFINITY;
    const batch = this.#lanes.take(Math.min(FETCH_COUNT, free, allowance));
    if (batch.length === 0) return;
    this.#holds.spend('delivery.attempt', batch.length);
    this.#claim_again = false;
    this.#drained?.push(...batch.map(({ job }) => job));
    this.#claiming = this.#claim(batch)
      .catch((error) => {
        this.#services.log.error({ err: error }, 'failed to claim deliveries');
        this.#lostAnswers?.note();
      })
      .then(() => {
        this.#claiming = null;
        this.#sync.refill();
        if (this.#claim_again) this.#claimSoon();
        this.#fetcher.pollIfFree();
        this.#onProgress?.();
      });
  };

  async #claim(batch: readonly Candidate[]): Promise<void> {
    let remaining: readonly Candidate[] = batch;
    const entered = new Set<string>();
    this.#claimed = batch;
    try {
      remaining = await this.#sync.grant(batch);
      const byJob = new Map(remaining.map((candidate) => [candidate.job.id, candidate]));
      const started_at = performance.now();
      const won = await claimDeliveries(
        this.#services,
        remaining.map(({ job }) => job),
        () => this.#lostAnswers?.note(),
      );
      for (const claimed of won) {
        entered.add(claimed.job.id);
        this.#enter(claimed, byJob.get(claimed.job.id) ?? null, started_at);
      }
      remaining = remaining.filter(({ job }) => !entered.has(job.id));
    } finally {
      this.#claimed = [];
      for (const { lane, job } of remaining) this.#lanes.giveBack(lane, job.data.workspace_id);
      for (const { job } of batch) {
        if (entered.has(job.id)) continue;
        this.#large_memory.release(job.id);
        this.#sync.noteSent(job.id, false);
      }
    }
  }

  /** Prerenders a claimed message while it waits for a connection in its lane. */
  #enter(claimed: Claimed, candidate: Candidate | null, started_at: number): void {
    const entry = newInFlight(claimed, candidate, started_at);
    this.#inFlight.add(entry);
    reachStep('claimed', claimed.delivery.message_id);
    if (this.#stopped || this.#isHeld(entry)) this.#cancel(entry);
    else entry.prerendered = this.#prerender(this.#inForm(entry));
    const run = () => {
      entry.made = entry.prerendered?.take() ?? null;
      if (entry.has_result) this.#leave(entry, null);
      else void this.#send(entry);
    };
    this.#lanes.start(entry.lane, {
      workspace_id: claimed.delivery.workspace_id,
      priority: candidate?.priority ?? 'normal',
      run,
      refuse: () => this.#handBack(entry),
    });
  }

  /** Returns the content of a message as the transport of its lane wants it. */
  #inForm({ lane, claimed: { content, delivery } }: InFlight): Content {
    const form = this.#transports.senderFor(lane, delivery.mode)?.form;
    return { large: content.large, raw: () => content.raw(form) };
  }

  async #send(entry: InFlight): Promise<void> {
    const { claimed, abort } = entry;
    const { message_id } = claimed.delivery;
    entry.started = performance.now();
    const due_at = entry.lane === NO_LANE ? null : (entry.candidate?.due_at ?? null);
    const wait_ms = due_at && Math.max(0, this.#services.clock.now() - due_at.getTime());
    const watch = {
      begun: () => {
        entry.has_connection = true;
        reachStep('connected', message_id);
      },
      content: () => this.#mayBegin(entry),
      written: () => {
        reachStep('content sent', message_id);
        this.#freeMemory(entry);
      },
    };
    const result = await this.#attempt(entry, watch);
    reachStep('response', message_id);
    entry.made = null;
    if (entry.content_slot) this.#unrecorded.answered(entry.content_slot);
    const { kind, reply } = result.outcome;
    const aborted = result.handed_back || (abort.signal.aborted && kind === 'deferred' && reply === null);
    // This message waits for a session rather than for a retry.
    const crowded = !aborted && !result.has_left && this.#isCrowded(entry, result.last_outcome);
    const handed_back = aborted || crowded;
    if (!result.has_left) this.#leave(entry, aborted ? null : result.last_outcome, crowded);
    if (!handed_back) {
      const failed = kind === 'deferred';
      this.#metrics?.record('delivery.attempt', { wait_ms, run_ms: result.duration_ms, failed, finished: !failed });
    }
    if (!entry.has_result) this.#finish(entry, { ...result, handed_back });
  }

  /**
   * Tries the transport of the lane and, as long as no server is reached, the next one of the rule. `has_left` is true
   * if the message has no place in a lane any more, and `last_outcome` is that of the last transport alone.
   */
  async #attempt(entry: InFlight, watch: AttemptWatch): Promise<TriedTransports> {
    const { claimed, candidate, abort } = entry;
    const { workspace_id, mode } = claimed.delivery;
    let earlier: SendOutcome | null = null;
    for (;;) {
      const sender = this.#transports.senderFor(entry.lane, mode);
      if (!sender) return { ...untried(claimed), again_in_seconds: UNUSABLE_SECONDS };
      const result = await attemptDelivery(this.#services, sender, claimed, abort.signal, watch);
      const outcome: SendOutcome = earlier === null ? result.outcome : followedBy(earlier, result.outcome);
      const transport_id = transportIdOf(entry.lane);
      const via = { transport_id, transport_label: sender.label };
      const settled = { ...result, ...via, outcome, last_outcome: result.outcome, has_left: false };
      // An email that this process cannot prepare would not be better off elsewhere, and must not leave unsigned.
      if (result.handed_back || result.kept_by || !failedUnderway(result.outcome) || abort.signal.aborted)
        return settled;
      if (this.#isCrowded(entry, result.outcome)) return settled;
      // A transport that was changed or deleted meanwhile has not sent what waited for a connection.
      if (sender.mailer !== this.#transports.senderFor(entry.lane, mode)?.mailer && result.outcome.reply === null)
        return untried(claimed);
      this.#sync.noteSent(claimed.job.id, false);
      const next = candidate && (await this.#nextLane(candidate, entry.lane));
      if (next === null) return settled;
      this.#lanes.moveIn(next, workspace_id);
      this.#leave(entry, result.outcome);
      entry.lane = next;
      entry.has_connection = false;
      earlier = outcome;
      if (!(await this.#hasTurn(entry))) return { ...settled, has_left: true };
    }
  }

  /** Returns the lane of the next transport that is open and whose limits allow one more email. */
  async #nextLane(candidate: Candidate, lane: string): Promise<string | null> {
    try {
      for (let next = this.#sync.laneAfter(candidate, lane); next !== null; ) {
        if (await this.#sync.takeOne(candidate, next)) return next;
        next = this.#sync.laneAfter(candidate, next);
      }
    } catch (error) {
      // The attempt that was made is recorded, and the email retried.
      this.#services.log.error({ err: error }, 'failed to count an email against a transport');
    }
    return null;
  }

  /** Returns whether the server turned one session away because others of this lane are open. */
  #isCrowded({ lane }: InFlight, outcome: SendOutcome): boolean {
    return isTurnedAway(outcome) && this.#lanes.sendingIn(lane) > 1;
  }

  /** Waits for a connection in the lane of a message; resolves with false if the lane closes before. */
  #hasTurn({ lane, claimed, candidate }: InFlight): Promise<boolean> {
    return new Promise((resolve) => {
      this.#lanes.start(lane, {
        workspace_id: claimed.delivery.workspace_id,
        priority: candidate?.priority ?? 'normal',
        run: () => resolve(true),
        refuse: () => resolve(false),
      });
    });
  }

  /** Decides, before the first byte of content, whether one more message may be sent without being recorded. */
  #mayBegin(entry: InFlight): boolean | Promise<boolean> {
    if (entry.content_slot) return true;
    const begin = (slot: ContentSlot | null) => {
      const sure = this.#heartbeat?.isSure() ?? true;
      if (slot && sure && !entry.has_result && !entry.abort.signal.aborted) {
        entry.content_slot = slot;
        return true;
      }
      if (slot) this.#unrecorded.recorded(slot);
      if (!slot || !sure) this.#cancel(entry);
      return false;
    };
    const slot = this.#unrecorded.take(entry.abort.signal);
    return slot instanceof Promise ? slot.then(begin) : begin(slot);
  }

  /** Frees the connection of a message, and reports the outcome to the lane. */
  #leave(entry: InFlight, outcome: SendOutcome | null, crowded = false): void {
    this.#sync.done(entry.lane, entry.claimed.delivery.workspace_id, outcome, crowded);
    this.#claimSoon();
  }

  /** Releases the memory of a large message, which makes room for another. */
  #freeMemory({ claimed }: InFlight): void {
    if (this.#large_memory.release(claimed.job.id)) this.#claimSoon();
  }

  #finish(entry: InFlight, result: Settled): void {
    entry.has_result = true;
    const { kind } = result.outcome;
    this.#sync.noteSent(entry.claimed.job.id, !result.handed_back && (kind === 'accepted' || kind === 'unknown'));
    this.#freeMemory(entry);
    this.#settler.add(entry, result);
    this.#onProgress?.();
  }

  #settled(entries: readonly InFlight[]): void {
    for (const entry of entries) {
      this.#inFlight.remove(entry);
      reachStep('settled', entry.claimed.delivery.message_id);
      if (entry.content_slot) this.#unrecorded.recorded(entry.content_slot);
    }
    this.#claimSoon();
    this.#fetcher.pollIfFree();
    this.#onProgress?.();
  }

  /** Returns an unsent job to the queue. */
  #handBack(entry: InFlight): void {
    entry.prerendered?.take();
    if (!entry.has_result) this.#finish(entry, unsentDelivery(entry.claimed));
  }

  /** Aborts the attempt. Has no effect after the end of DATA. */
  #cancel(entry: InFlight): void {
    entry.abort.abort();
    if (entry.started === Number.POSITIVE_INFINITY) this.#handBack(entry);
  }

  /** Reassigns waiting messages when holds have changed, so that messages which are now held are not sent. */
  #onHolds(): void {
    this.#sync.reassign();
    for (const entry of this.#inFlight) {
      if (!entry.has_result && !entry.has_connection && this.#isHeld(entry)) this.#cancel(entry);
    }
    this.#fetcher.poll();
    this.#claimSoon();
    this.#sync.refill();
  }

  #isPaused(): boolean {
    return this.#holds.isPaused('delivery.attempt');
  }

  #isHeld({ candidate }: InFlight): boolean {
    return this.#isPaused() || (candidate !== null && this.#sync.holdLaneFor(candidate) !== null);
  }

  /** Returns the maximum number of messages in flight, which an operator can lower. */
  #most(): number {
    return Math.min(MAX_IN_FLIGHT, this.#metrics?.concurrency('delivery.attempt') ?? MAX_IN_FLIGHT);
  }

  /** Schedules the stages of a stop that takes too long. */
  #startDeadlines(): NodeJS.Timeout[] {
    const grace_ms = this.#services.config.SHUTDOWN_GRACE * 1000;
    return [
      setTimeout(() => {
        for (const entry of this.#inFlight) {
          if (entry.has_result) continue;
          if (entry.content_slot)
            this.#finish(entry, unansweredDelivery(entry.claimed, performance.now() - entry.started));
          else this.#handBack(entry);
        }
      }, grace_ms - UNANSWERED_BEFORE_MS),
      setTimeout(() => this.#settler.giveUp(), grace_ms - GIVE_UP_BEFORE_MS),
    ];
  }

  /**
   * Waits, during a drain, until nothing is being claimed, sent, recorded, parked or unparked. Records results once all
   * have arrived.
   */
  async #waitUntilIdle(): Promise<void> {
    for (;;) {
      if (this.#claiming || this.#inFlight.size > 0) {
        const progress = new Promise<void>((resolve) => {
          this.#onProgress = resolve;
        });
        if (!this.#claiming && [...this.#inFlight].every(({ has_result }) => has_result)) this.#settler.flush();
        await progress;
      } else {
        const pending = this.#sync.pending();
        if (!pending) return;
        await pending;
      }
    }
  }
}

/** The result of an attempt at one or more transports. */
type TriedTransports = Settled & { readonly last_outcome: SendOutcome; readonly has_left: boolean };

function untried(claimed: Claimed): TriedTransports {
  const unsent = unsentDelivery(claimed);
  return { ...unsent, last_outcome: unsent.outcome, has_left: false };
}

/** Returns the ID to record with an attempt; null for the default transport. */
function transportIdOf(lane: string): string | null {
  const id = transportOfLane(lane);
  return id === DEFAULT_TRANSPORT ? null : id;
}

export function startDeliveryPump(
  services: Services,
  mailers: Mailers,
  holds: HoldCache,
  metrics: QueueMetrics | null = null,
): DeliveryPump {
  const pump = new DeliveryPump({ services, mailers, holds, metrics });
  pump.start();
  return pump;
}

/** Runs all due deliveries until nothing is left, without timers or waits, and returns the claimed jobs. */
export async function drainDeliveries(services: Services, mailers: Mailers): Promise<DeliveryJob[]> {
  const holds = new HoldCache(services);
  return new DeliveryPump({ services, mailers, holds, metrics: null, batching: onFlush }).drain();
}
