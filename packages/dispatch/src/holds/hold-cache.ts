import type { JobName, Services } from '@postrider/core';
import {
  emptyHolds,
  endExpiredHolds,
  HOLDS_CHANNEL,
  type HoldInForce,
  holdsInForce,
  instanceQueues,
  noteDrained,
  takeResumption,
} from '@postrider/core/holds';
import { holdLane } from '@postrider/core/lanes';
import { domainOf } from '@postrider/mail';
import { repeatEvery } from '../repeat-task.ts';

// Polling applies a hold on every worker within two seconds. The notification at its commit is faster but may be lost.
const POLL_MS = 1000;
/** The maximum number of messages that one poll releases per hold. */
const MAX_RESUMED = 1000;

/** The properties of a message that decide which holds apply to it. */
export interface HeldFacts {
  readonly workspace_id: string;
  readonly from_domain: string;
  readonly api_key_id: string | null;
  readonly email: string;
  /** The lane that the mailer names; null if the message has no destination. */
  readonly lane: string | null;
}

/** Caches the active holds for this worker, and applies the rates of released ones. */
export class HoldCache {
  readonly #services: Services;
  readonly #changeListeners: (() => void)[] = [];
  readonly #allowanceListeners: (() => void)[] = [];
  readonly #resumeListeners: ((lane: string, count: number) => void)[] = [];
  /** The ids of the holds as of the last poll, each with whether the hold is active. */
  #fingerprint = '[]';
  #paused: ReadonlySet<string> = new Set();
  /** Hold lanes by target: scope, workspace and value. */
  #laneByTarget: ReadonlyMap<string, string> = new Map();
  /** Hold lanes that release messages at a limited rate, or not at all. */
  #guarded: ReadonlySet<string> = new Set();
  #heldWebhooks: ReadonlySet<string> = new Set();
  /** The released hold whose rate a webhook resumes at, by webhook. */
  #metered: ReadonlyMap<string, string> = new Map();
  /** How many jobs of a queue may run now, while the queue resumes at a limited rate after a hold. */
  readonly #allowances = new Map<string, number>();
  #polling: Promise<void> | null = null;
  #again = false;
  #stopped = false;
  #ready: Promise<void> = Promise.resolve();
  #listening: Promise<{ unlisten(): Promise<void> } | null> | null = null;
  #poller: ReturnType<typeof repeatEvery> | null = null;

  constructor(services: Services) {
    this.#services = services;
  }

  start(): void {
    const { direct, log } = this.#services;
    // Starts to listen before the first poll, so that no hold is missed between the two.
    this.#listening = direct
      .listen(HOLDS_CHANNEL, () => void this.poll())
      .catch((error) => {
        log.error({ err: error }, 'cannot listen for holds; polling them every second');
        return null;
      });
    this.#ready = this.#listening.then(() => this.poll());
    this.#poller = repeatEvery(POLL_MS, () => this.poll(), this.#services);
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    await this.#poller?.stop();
    await this.#ready;
    await this.#polling;
    await (await this.#listening)?.unlisten();
  }

  /** Resolves after the first poll. */
  get ready(): Promise<void> {
    return this.#ready;
  }

  /** Polls now. A call during a poll triggers another poll after it. */
  poll(): Promise<void> {
    if (this.#polling) {
      this.#again = true;
      return this.#polling;
    }
    this.#again = false;
    this.#polling = this.#pollOnce()
      .catch((error) => this.#services.log.error({ err: error }, 'failed to read holds'))
      .then(() => {
        this.#polling = null;
        if (this.#again && !this.#stopped) void this.poll();
      });
    return this.#polling;
  }

  isPaused(queue: JobName): boolean {
    return this.#paused.has(queue);
  }

  /** Returns the lane of the hold that applies to a message, or null if there is none. */
  holdLaneFor({ workspace_id, from_domain, api_key_id, email, lane }: HeldFacts): string | null {
    const lanes = this.#laneByTarget;
    if (lanes.size === 0) return null;
    return (
      lanes.get(targetKey('sender_domain', workspace_id, from_domain)) ??
      (api_key_id === null ? undefined : lanes.get(targetKey('api_key', workspace_id, api_key_id))) ??
      (lane === null ? undefined : lanes.get(targetKey('destination', '', domainOf(email)))) ??
      (lane === null ? undefined : lanes.get(targetKey('destination', '', lane))) ??
      null
    );
  }

  /** Returns whether a lane belongs to a hold that releases messages at a limited rate, or not at all. */
  guards(lane: string): boolean {
    return this.#guarded.has(lane);
  }

  /** Returns how many jobs of a queue may run now, while it resumes at a limited rate after a hold; null if unlimited. */
  allowance(queue: JobName): number | null {
    return this.#allowances.get(queue) ?? null;
  }

  spend(queue: JobName, count: number): void {
    const remaining = this.#allowances.get(queue);
    if (remaining !== undefined) this.#allowances.set(queue, Math.max(0, remaining - count));
  }

  /** Returns whether a webhook is held. */
  isHeld(webhook_id: string): boolean {
    return this.#heldWebhooks.has(webhook_id);
  }

  /** Returns whether a webhook resumes at the rate of a released hold. */
  isMetered(webhook_id: string): boolean {
    return this.#metered.has(webhook_id);
  }

  /** Returns how many of `count` posts the rate of the webhook allows now. */
  async take(webhook_id: string, count: number): Promise<number> {
    // Even if the hold has just been released, this worker does not know its rate yet.
    if (this.#heldWebhooks.has(webhook_id)) return 0;
    const id = this.#metered.get(webhook_id);
    if (id === undefined) return count;
    return (await takeResumption(this.#services.sql, [id], count)).get(id) ?? 0;
  }

  /** Registers a listener that receives the number of messages of a hold lane that may be released. */
  onResume(listener: (lane: string, count: number) => void): void {
    this.#resumeListeners.push(listener);
  }

  /** Registers a listener for holds that start or are released. */
  onChange(listener: () => void): void {
    this.#changeListeners.push(listener);
  }

  /** Registers a listener for rates that allow more to be released. */
  onAllowance(listener: () => void): void {
    this.#allowanceListeners.push(listener);
  }

  async #pollOnce(): Promise<void> {
    const holds = await holdsInForce(this.#services.sql);
    if (holds.some((hold) => hold.expired)) {
      // If another worker is recording the end of a hold, the next poll finds the result.
      if ((await endExpiredHolds(this.#services)) > 0) this.#again = true;
    }
    const next = JSON.stringify(holds.map(({ id, active }) => [id, active]));
    if (next !== this.#fingerprint) {
      this.#fingerprint = next;
      this.#applyHolds(holds);
      for (const listener of this.#changeListeners) listener();
    }
    const releases = holds.filter(({ active, expired, rate }) => !active && !expired && rate !== null);
    if (releases.length > 0) await this.#releaseAtRate(releases);
  }

  #applyHolds(holds: readonly HoldInForce[]): void {
    const active = holds.filter((hold) => hold.active);
    this.#paused = new Set(active.flatMap(stoppedQueues));
    const mail = holds.filter(({ scope }) => !appliesToQueues(scope) && scope !== 'webhook');
    this.#laneByTarget = new Map(
      mail.flatMap((hold) =>
        hold.active ? [[targetKey(hold.scope, hold.workspace_id, hold.value), holdLane(hold.id)]] : [],
      ),
    );
    this.#guarded = new Set(mail.flatMap((hold) => (hold.active || hold.rate !== null ? [holdLane(hold.id)] : [])));
    this.#heldWebhooks = new Set(active.flatMap(({ scope, value }) => (scope === 'webhook' ? [value] : [])));
    this.#metered = new Map(
      holds.flatMap(({ id, scope, value, active, rate }) =>
        scope === 'webhook' && !active && rate !== null ? [[value, id]] : [],
      ),
    );
    // A queue that resumes at a rate starts with an allowance of 0.
    const queues = holds.filter(({ scope, active, rate }) => appliesToQueues(scope) && !active && rate !== null);
    const names = new Set(queues.map(ratedQueue));
    for (const name of [...this.#allowances.keys()]) if (!names.has(name)) this.#allowances.delete(name);
    for (const name of names) if (!this.#allowances.has(name)) this.#allowances.set(name, 0);
  }

  /** Releases messages at the rates of released holds, unless another hold still blocks them. */
  async #releaseAtRate(releases: readonly HoldInForce[]): Promise<void> {
    const { sql } = this.#services;
    const drained = await emptyHolds(
      sql,
      releases.map(({ id }) => id),
    );
    const done = drained.length > 0 ? await noteDrained(sql, drained) : new Set<string>();
    const going = releases.filter((hold) => hold.scope !== 'webhook' && !done.has(hold.id) && !this.#isStopped(hold));
    const counts = await takeResumption(
      sql,
      going.map(({ id }) => id),
      MAX_RESUMED,
    );
    for (const { id, scope, value, rate } of going) {
      const count = counts.get(id) ?? 0;
      if (count === 0) continue;
      if (appliesToQueues(scope)) {
        const queue = ratedQueue({ scope, value });
        // An unused allowance does not accumulate into a burst.
        const max = Math.max(count, Math.ceil((rate ?? 0) / 60));
        this.#allowances.set(queue, Math.min(max, (this.#allowances.get(queue) ?? 0) + count));
      } else for (const listener of this.#resumeListeners) listener(holdLane(id), count);
    }
    if (counts.size > 0) for (const listener of this.#allowanceListeners) listener();
  }

  #isStopped({ scope, value }: HoldInForce): boolean {
    return this.#paused.has(appliesToQueues(scope) ? ratedQueue({ scope, value }) : 'delivery.attempt');
  }
}

/** Creates a hold cache that listens and polls until it is stopped. */
export function startHoldCache(services: Services): HoldCache {
  const holds = new HoldCache(services);
  holds.start();
  return holds;
}

function appliesToQueues(scope: HoldInForce['scope']): boolean {
  return scope === 'queue' || scope === 'instance';
}

function stoppedQueues({ scope, value }: HoldInForce): readonly string[] {
  return scope === 'instance' ? instanceQueues : scope === 'queue' ? [value] : [];
}

/**
 * Returns the queue that resumes at the rate of a queue or instance hold. After an instance hold, webhook posts resume
 * immediately.
 */
function ratedQueue({ scope, value }: Pick<HoldInForce, 'scope' | 'value'>): string {
  return scope === 'instance' ? 'delivery.attempt' : value;
}

function targetKey(scope: HoldInForce['scope'], workspace_id: string, value: string): string {
  return `${scope} ${workspace_id} ${value}`;
}
