import type { Services } from '@postrider/core';
import {
  type ClaimedPost,
  claimPosts,
  type EndpointLease,
  renewEndpointLeases,
  type SettledPost,
  sendPost,
  settlePosts,
  switchedOff,
  takeEndpointLeases,
  WEBHOOK_LEASE_SECONDS,
} from '@postrider/core/webhooks';
import type { HttpGuard } from '@postrider/net';
import { HoldCache } from '../holds/hold-cache.ts';
import type { QueueMetrics } from '../metrics/worker-metrics.ts';
import { repeatEvery } from '../repeat-task.ts';
import { type ClaimQuota, type EndedLease, EndpointLanes } from './endpoint-lanes.ts';

// Jobs fetched at a time. There may be many for one endpoint.
const FETCH_COUNT = 200;
// The maximum number of deliveries this worker may have claimed, and of endpoints it may have leased.
const MAX_CLAIMED = 1200;
const MAX_LEASES = 150;
// Recording an event wakes the workers; polling covers lost wakes.
const POLL_MS = 500;
// Every accepted message causes a wake, whether or not an endpoint is subscribed, so polls that find nothing become
// rarer, up to this interval.
const FIRST_QUIET_MS = 3;
const QUIET_MS = 50;
const RENEW_MS = 3000;
const TOUCH_EVERY = 3;
const SETTLE_COUNT = 200;
const SETTLE_MS = 15;
const MAX_SETTLES = 12;
// A post takes up to 10 s, plus recording, so a delivery that has not started this long after its claim goes to another
// worker.
const BEGIN_WITHIN_MS = (WEBHOOK_LEASE_SECONDS - 18) * 1000;
// Fractions of the grace period for a stop. After the first, unfinished posts are aborted and returned to the queue.
// After the second, the pump gives up.
const CUT_PART = 1 / 3;
const GIVE_UP_PART = 1 / 2;

interface Waiting {
  readonly post: ClaimedPost;
  readonly claimed_at: number;
}

/**
 * Moves webhook deliveries: fetch → lease → claim → lane → post → settle. A job only says that an endpoint has due
 * deliveries, and stays active while this worker has the endpoint lease. A hanging endpoint occupies only its own few
 * slots. Idle until start or drain is called.
 */
export class WebhookPump {
  readonly #services: Services;
  readonly #http: HttpGuard;
  readonly #holds: HoldCache;
  readonly #metrics: QueueMetrics | null;
  readonly #lanes = new EndpointLanes<Waiting>(
    () => performance.now(),
    () => this.#isFull(),
    Math.random,
  );
  /** Results that are not being recorded yet. */
  readonly #finished: SettledPost[] = [];
  /** Aborts the posts in progress. */
  readonly #cut = new AbortController();
  /** The current fetch. Only one runs at a time. */
  #fetching: Promise<void> | null = null;
  /** True if a wake arrived during the current fetch. */
  #fetch_again = false;
  /** The delay after fetches that found nothing, and when it ends. */
  #quiet_ms = 0;
  #quiet_until = 0;
  /** The current claim. Only one runs at a time. */
  #claiming: Promise<void> | null = null;
  #pollTimer: NodeJS.Timeout | null = null;
  /** Runs while results wait to be batched. */
  #settleTimer: NodeJS.Timeout | null = null;
  /** How many batches are being recorded. */
  #settling = 0;
  #renewals = 0;
  #renewer: ReturnType<typeof repeatEvery> | null = null;
  #unsubscribes: readonly (() => void)[] = [];
  #stopped = false;
  #given_up = false;
  /** How many posts were sent. */
  #sent = 0;
  /** Set by a drain, which runs no timers; called when a claim, post or settle has ended. */
  #onProgress: (() => void) | null = null;
  #draining = false;

  constructor(services: Services, http: HttpGuard, holds: HoldCache, metrics: QueueMetrics | null) {
    this.#services = services;
    this.#http = http;
    this.#holds = holds;
    this.#metrics = metrics;
  }

  /** Starts the loops: they fetch, renew leases and listen until stop() is called. */
  start(): void {
    const { jobs } = this.#services;
    this.#renewer = repeatEvery(RENEW_MS, () => this.#renew(), this.#services);
    this.#metrics?.watch('webhook.deliver', {
      active: () => {
        const leases = this.#lanes.leases();
        return { active: leases.length, job_ids: leases.map(({ job_id }) => job_id) };
      },
      changed: this.#poll,
    });
    this.#holds.onChange(() => {
      if (!this.#stopped) this.#onHolds();
    });
    this.#unsubscribes = [
      jobs.onWake('webhook.deliver', this.#poll),
      // An accepted message is also an event, and the process that accepts it does not know which endpoints are
      // subscribed.
      jobs.onWake('delivery.attempt', this.#poll),
      jobs.onWake('webhook.close', () => void this.#dropClosed()),
    ];
    this.#poll();
  }

  /** Ends the posts in progress, returns deliveries that have not started to the queue, and ends all leases. */
  async stop(): Promise<void> {
    this.#stopped = true;
    for (const unsubscribe of this.#unsubscribes) unsubscribe();
    if (this.#pollTimer) clearTimeout(this.#pollTimer);
    const grace_ms = this.#services.config.SHUTDOWN_GRACE * 1000;
    const deadlines = [
      setTimeout(() => this.#cut.abort(), grace_ms * CUT_PART),
      setTimeout(() => {
        this.#given_up = true;
      }, grace_ms * GIVE_UP_PART),
    ];
    this.#lanes.close();
    await this.#fetching;
    await this.#claiming;
    for (const id of this.#lanes.ids()) this.#handBack(this.#lanes.drop(id));
    while (this.#isBusy() && !this.#given_up) {
      this.#settleNow();
      await new Promise((resolve) => setTimeout(resolve, SETTLE_MS));
    }
    for (const deadline of deadlines) clearTimeout(deadline);
    if (this.#settleTimer) clearTimeout(this.#settleTimer);
    await this.#renewer?.stop();
  }

  /**
   * Used instead of start and stop. Posts all due deliveries until nothing is left, waiting only for receivers and the
   * database. Returns the number of posts.
   */
  async drain(): Promise<number> {
    this.#draining = true;
    await this.#holds.poll();
    for (let fetched = 1; fetched > 0; ) {
      fetched = this.#isPaused() ? 0 : (await this.#fetch(FETCH_COUNT)).length;
      await this.#waitUntilIdle();
    }
    return this.#sent;
  }

  /** Fetches now, or as soon as the quiet period is over, and again at the next poll. */
  readonly #poll = (): void => {
    if (this.#stopped) return;
    if (this.#fetching) {
      this.#fetch_again = true;
      return;
    }
    const quiet_ms = this.#quiet_until - performance.now();
    if (quiet_ms > 0) {
      this.#pollIn(quiet_ms);
      return;
    }
    this.#fetch_again = false;
    this.#fetching = this.#fetchOnce()
      .catch((error) => {
        this.#services.log.error({ err: error }, 'failed to fetch webhook jobs');
        return false;
      })
      .then((has_more) => {
        this.#fetching = null;
        if (this.#stopped) return;
        if (has_more || this.#fetch_again) this.#poll();
        else this.#pollIn(POLL_MS);
      });
  };

  #pollIn(wait_ms: number): void {
    if (this.#pollTimer) clearTimeout(this.#pollTimer);
    this.#pollTimer = setTimeout(this.#pollAll, wait_ms);
  }

  /** Another worker may have ended a job for an endpoint that is leased here, so every lane is checked again. */
  readonly #pollAll = (): void => {
    this.#lanes.markDue();
    this.#claimSoon();
    this.#poll();
  };

  /** Fetches once, and returns whether more jobs may be due. */
  async #fetchOnce(): Promise<boolean> {
    await this.#holds.ready;
    if (this.#isFull() || this.#isPaused()) return false;
    const count = Math.min(FETCH_COUNT, this.#mostLeases());
    const jobs = await this.#fetch(count);
    if (jobs.length === 0) {
      this.#quiet_ms = Math.min(QUIET_MS, Math.max(FIRST_QUIET_MS, this.#quiet_ms * 2));
      this.#quiet_until = performance.now() + this.#quiet_ms;
      return false;
    }
    this.#quiet_ms = 0;
    return jobs.length === count;
  }

  /** Fetches jobs and begins the leases of their endpoints. */
  async #fetch(count: number): Promise<readonly unknown[]> {
    const jobs = await this.#services.jobs.fetch('webhook.deliver', count);
    if (jobs.length === 0) return jobs;
    const holders = this.#lanes.leases().map(({ holder }) => holder);
    const { endpointLeases: leases, others } = await takeEndpointLeases(this.#services, jobs, holders);
    const replaced = leases.flatMap((lease) => this.#lanes.begin(lease) ?? []);
    for (const id of others) this.#lanes.markDue(id);
    this.#claimSoon();
    await this.#endJobs(replaced);
    return jobs;
  }

  /** Claims deliveries, one claim at a time. */
  #claimSoon(): void {
    if (this.#claiming || this.#stopped) return;
    const quotas = this.#isPaused() ? [] : this.#lanes.ask(MAX_CLAIMED - this.#lanes.claimedCount());
    if (quotas.length === 0) {
      this.#settleSoon();
      return;
    }
    this.#claiming = this.#claim(quotas)
      .catch((error) => this.#services.log.error({ err: error }, 'failed to claim webhook deliveries'))
      .then(() => {
        this.#claiming = null;
        if (this.#lanes.hungry()) this.#claimSoon();
        this.#onProgress?.();
      });
  }

  async #claim(quotas: readonly ClaimQuota[]): Promise<void> {
    const claimed_at = performance.now();
    const unanswered = new Map(quotas.map(({ webhook_id, count }) => [webhook_id, count]));
    try {
      const { posts, rejected } = await claimPosts(this.#services, await this.#metered(quotas));
      for (const [id, group] of Map.groupBy([...posts, ...rejected], ({ row }) => row.webhook_id)) {
        const waiting = group.flatMap((one) => ('signer' in one ? [{ post: one, claimed_at }] : []));
        this.#lanes.claimed(id, waiting, group.length, unanswered.get(id) ?? group.length);
        unanswered.delete(id);
        this.#startPosts(id);
      }
      this.#handIn(rejected);
    } finally {
      for (const [id, count] of unanswered) this.#lanes.claimed(id, [], 0, count);
      this.#settleSoon();
    }
  }

  /** Reduces the quota of an endpoint that resumes after a hold to the number that the rate allows. */
  async #metered(quotas: readonly ClaimQuota[]): Promise<readonly ClaimQuota[]> {
    const holds = this.#holds;
    const slow = quotas.filter(({ webhook_id }) => holds.isMetered(webhook_id) || holds.isHeld(webhook_id));
    if (slow.length === 0) return quotas;
    const remaining = new Map<string, number>();
    for (const { webhook_id, count } of slow) remaining.set(webhook_id, await holds.take(webhook_id, count));
    return quotas.map((quota) => ({ ...quota, count: remaining.get(quota.webhook_id) ?? quota.count }));
  }

  #startPosts(webhook_id: string): void {
    if (this.#stopped) return;
    for (const waiting of this.#lanes.start(webhook_id)) void this.#post(waiting);
  }

  async #post({ post, claimed_at }: Waiting): Promise<void> {
    const began = performance.now();
    const is_late = began - claimed_at > BEGIN_WITHIN_MS;
    if (!is_late) this.#sent += 1;
    const result: SettledPost = is_late
      ? { row: post.row, lease: post.lease, outcome: null }
      : await sendPost(this.#services, this.#http, post, this.#cut.signal);
    const { outcome } = result;
    const is_accepted = outcome?.kind === 'answered' && outcome.status >= 200 && outcome.status < 300;
    if (outcome !== null) {
      this.#metrics?.record('webhook.deliver', {
        wait_ms: null,
        run_ms: performance.now() - began,
        failed: !is_accepted,
        finished: is_accepted,
      });
    }
    const kind = outcome === null ? 'unsent' : is_accepted ? 'accepted' : 'failed';
    const { outdated, dropped } = this.#lanes.ended(post.row.webhook_id, kind, began);
    this.#handIn([outdated ? { ...result, outdated } : result]);
    this.#handBack(dropped);
    this.#startPosts(post.row.webhook_id);
    this.#onProgress?.();
  }

  #handBack(dropped: readonly Waiting[]): void {
    this.#handIn(dropped.map(({ post: { row, lease } }) => ({ row, lease, outcome: null })));
  }

  #handIn(results: readonly SettledPost[]): void {
    if (results.length === 0) return;
    this.#finished.push(...results);
    if (this.#finished.length >= SETTLE_COUNT) this.#settleNow();
    else this.#settleSoon();
  }

  #settleSoon(): void {
    if (!this.#draining) this.#settleTimer ??= setTimeout(this.#settleNow, SETTLE_MS);
  }

  /** Records the results so far, and ends the leases that have no deliveries left. */
  readonly #settleNow = (): void => {
    if (this.#settleTimer) clearTimeout(this.#settleTimer);
    this.#settleTimer = null;
    const batch = this.#finished.splice(0);
    const counts = new Map(
      [...Map.groupBy(batch, ({ row }) => row.webhook_id)].map(([id, { length }]) => [id, length]),
    );
    const leases = this.#lanes.release(counts);
    if (batch.length + leases.length === 0) return;
    const was_full = this.#isFull() || leases.length > 0;
    this.#settling += 1;
    void this.#settle(batch, leases).then(() => {
      this.#settling -= 1;
      for (const { row } of batch) this.#lanes.settled(row.webhook_id);
      if (this.#lanes.hungry()) this.#claimSoon();
      if (was_full && !this.#isFull() && !this.#draining) this.#poll();
      this.#onProgress?.();
    });
  };

  /**
   * Records a batch, even across a database restart. A delivery whose result cannot be recorded in time is posted again
   * with the same id.
   */
  async #settle(batch: readonly SettledPost[], leases: readonly EndedLease[]): Promise<void> {
    const { log } = this.#services;
    for (let attempt = 1; ; attempt++) {
      try {
        await settlePosts(this.#services, batch, leases);
        return;
      } catch (error) {
        log.error({ err: error, count: batch.length, attempt }, 'failed to record webhook results');
        if (attempt >= MAX_SETTLES || this.#given_up) return;
        await new Promise((resolve) => setTimeout(resolve, Math.min(2000, 50 * 2 ** attempt)));
      }
    }
  }

  /** Returns the waiting deliveries of disabled endpoints to the queue. */
  async #dropClosed(): Promise<void> {
    const ids = this.#lanes.ids();
    if (ids.length === 0) return;
    try {
      for (const id of await switchedOff(this.#services.sql, ids)) this.#handBack(this.#lanes.drop(id));
    } catch (error) {
      this.#services.log.error({ err: error }, 'failed to look up webhook endpoints');
    }
  }

  /** Returns the deliveries that are now held to the queue, without an attempt, when holds have changed. */
  #onHolds(): void {
    for (const id of this.#lanes.ids()) {
      if (this.#isPaused() || this.#holds.isHeld(id)) this.#handBack(this.#lanes.drop(id));
    }
    this.#pollAll();
  }

  /** Renews the endpoint leases, and on every third run the heartbeats of their jobs. */
  async #renew(): Promise<void> {
    const { sql, jobs } = this.#services;
    const leases = this.#lanes.leases();
    if (leases.length === 0) return;
    const renewed = await renewEndpointLeases(sql, leases);
    const lost = leases.filter(({ webhook_id }) => !renewed.has(webhook_id));
    for (const lease of lost) this.#lanes.lose(lease);
    await this.#endJobs(lost);
    this.#renewals += 1;
    if (this.#renewals % TOUCH_EVERY > 0) return;
    await jobs.touch(
      'webhook.deliver',
      this.#lanes.leases().map(({ job_id, retry_count }) => ({ id: job_id, retry_count })),
    );
  }

  /**
   * Ends the jobs of leases that were taken, by another worker or this one. The new lease has its own job, and the old
   * one would stay active until its heartbeat is missed.
   */
  async #endJobs(leases: readonly EndpointLease[]): Promise<void> {
    if (leases.length === 0) return;
    await settlePosts(
      this.#services,
      [],
      leases.map((lease) => ({ ...lease, idle: false })),
    );
  }

  #isPaused(): boolean {
    return this.#holds.isPaused('webhook.deliver');
  }

  #isFull(): boolean {
    return this.#lanes.claimedCount() >= MAX_CLAIMED || this.#lanes.leases().length >= this.#mostLeases();
  }

  /** Returns the maximum number of leases, which an operator can lower. */
  #mostLeases(): number {
    return Math.min(MAX_LEASES, this.#metrics?.concurrency('webhook.deliver') ?? MAX_LEASES);
  }

  #isBusy(): boolean {
    return this.#lanes.claimedCount() > 0 || this.#lanes.leases().length > 0 || this.#settling > 0;
  }

  /** Waits, during a drain, until nothing is being claimed, posted or recorded, and no lease is left. */
  async #waitUntilIdle(): Promise<void> {
    while (this.#claiming || this.#isBusy()) {
      const progress = new Promise<void>((resolve) => {
        this.#onProgress = resolve;
      });
      const posting = this.#lanes.claimedCount() > this.#finished.length;
      if (!this.#claiming && this.#settling === 0 && !posting) this.#settleNow();
      await progress;
    }
  }
}

export function startWebhookPump(
  services: Services,
  http: HttpGuard,
  holds: HoldCache,
  metrics: QueueMetrics | null = null,
): WebhookPump {
  const pump = new WebhookPump(services, http, holds, metrics);
  pump.start();
  return pump;
}

/** Posts all due webhooks until nothing is left, without timers or waits, and returns the number of posts. */
export function drainWebhooks(services: Services, http: HttpGuard): Promise<number> {
  return new WebhookPump(services, http, new HoldCache(services), null).drain();
}
