import type { JobName, Services } from '@postrider/core';
import {
  emptyHolds,
  endExpiredHolds,
  HOLDS_CHANNEL,
  type HoldInForce,
  holdsInForce,
  noteDrained,
  takeResumption,
} from '@postrider/core/holds';
import { holdLane } from '@postrider/core/lanes';
import { repeatEvery } from '../repeat-task.ts';

// A hold takes effect on every worker within two seconds by polling: the notification at its commit is faster but may
// be lost.
const POLL_MS = 1000;
/** At most so much of a rate at once, for each hold and poll. */
const MOST_RESUMED = 1000;

/** What a mail is, as far as holds ask. */
export interface HeldFacts {
  readonly workspace_id: string;
  readonly from_domain: string;
  readonly api_key_id: string | null;
  readonly email: string;
  /** Its lane, as the mailer names it; null where it goes to no destination. */
  readonly lane: string | null;
}

/** Caches the holds of the database for this worker, and distributes the rates of ended ones. */
export class HoldCache {
  readonly #services: Services;
  readonly #changeListeners: (() => void)[] = [];
  readonly #allowanceListeners: (() => void)[] = [];
  readonly #resumeListeners: ((lane: string, count: number) => void)[] = [];
  /** The holds in force, by id, as the last poll found them. */
  #fingerprint = '[]';
  #paused: ReadonlySet<string> = new Set();
  /** Hold lanes by what is held: scope, workspace and value. */
  #laneByTarget: ReadonlyMap<string, string> = new Map();
  /** Hold lanes that release mail at a rate, or not at all. */
  #guarded: ReadonlySet<string> = new Set();
  #heldWebhooks: ReadonlySet<string> = new Set();
  /** The ended hold at whose rate a webhook goes on. */
  #metered: ReadonlyMap<string, string> = new Map();
  /** How much of a queue may go now, after a hold with a rate. */
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
    const { sql, log } = this.#services;
    // Listen before the first poll, so that no hold is missed between the two.
    this.#listening = sql
      .listen(HOLDS_CHANNEL, () => void this.poll())
      .catch((error) => {
        log.error({ err: error }, 'holds cannot be listened for; they are polled each second');
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

  /** The first poll is over. */
  get ready(): Promise<void> {
    return this.#ready;
  }

  /** Asks the database now; a call during a poll has it followed by another. */
  poll(): Promise<void> {
    if (this.#polling) {
      this.#again = true;
      return this.#polling;
    }
    this.#again = false;
    this.#polling = this.#pollOnce()
      .catch((error) => this.#services.log.error({ err: error }, 'holds could not be looked at'))
      .then(() => {
        this.#polling = null;
        if (this.#again && !this.#stopped) void this.poll();
      });
    return this.#polling;
  }

  isPaused(queue: JobName): boolean {
    return this.#paused.has(queue);
  }

  /** The lane of the hold that applies to a mail; null without one. */
  holdLaneFor({ workspace_id, from_domain, api_key_id, email, lane }: HeldFacts): string | null {
    const lanes = this.#laneByTarget;
    if (lanes.size === 0) return null;
    return (
      lanes.get(targetKey('sender_domain', workspace_id, from_domain)) ??
      (api_key_id === null ? undefined : lanes.get(targetKey('api_key', workspace_id, api_key_id))) ??
      (lane === null ? undefined : lanes.get(targetKey('destination', '', email.slice(email.lastIndexOf('@') + 1)))) ??
      (lane === null ? undefined : lanes.get(targetKey('destination', '', lane))) ??
      null
    );
  }

  /** Whether a lane is that of a hold that releases mail at a rate, or not at all. */
  guards(lane: string): boolean {
    return this.#guarded.has(lane);
  }

  /** How much of a queue may go now, after a hold with a rate; null where it is free. */
  allowance(queue: JobName): number | null {
    return this.#allowances.get(queue) ?? null;
  }

  spend(queue: JobName, count: number): void {
    const left = this.#allowances.get(queue);
    if (left !== undefined) this.#allowances.set(queue, Math.max(0, left - count));
  }

  /** Whether a webhook is held. */
  isHeld(webhook_id: string): boolean {
    return this.#heldWebhooks.has(webhook_id);
  }

  /** Whether a webhook goes on at the rate of a hold that has ended. */
  isMetered(webhook_id: string): boolean {
    return this.#metered.has(webhook_id);
  }

  /** How many of so many that rate leaves now. */
  async take(webhook_id: string, count: number): Promise<number> {
    // It may have been released a moment ago, and then go on at a rate that is not known here yet.
    if (this.#heldWebhooks.has(webhook_id)) return 0;
    const id = this.#metered.get(webhook_id);
    if (id === undefined) return count;
    return (await takeResumption(this.#services.sql, [id], count)).get(id) ?? 0;
  }

  /** Called when so much mail of a hold lane may be released. */
  onResume(listener: (lane: string, count: number) => void): void {
    this.#resumeListeners.push(listener);
  }

  /** Some hold has begun or ended. */
  onChange(listener: () => void): void {
    this.#changeListeners.push(listener);
  }

  /** What goes on at a rate has got more of it. */
  onAllowance(listener: () => void): void {
    this.#allowanceListeners.push(listener);
  }

  async #pollOnce(): Promise<void> {
    const found = await holdsInForce(this.#services.sql);
    if (found.some((hold) => hold.expired)) {
      // Where another worker is about to record it, the next poll sees that.
      if ((await endExpiredHolds(this.#services)) > 0) this.#again = true;
    }
    const next = JSON.stringify(found.map(({ id, active }) => [id, active]));
    if (next !== this.#fingerprint) {
      this.#fingerprint = next;
      this.#applyHolds(found);
      for (const listener of this.#changeListeners) listener();
    }
    const ended = found.filter(({ active, expired, rate }) => !active && !expired && rate !== null);
    if (ended.length > 0) await this.#releaseAtRate(ended);
  }

  #applyHolds(found: readonly HoldInForce[]): void {
    const active = found.filter((hold) => hold.active);
    this.#paused = new Set(active.flatMap(({ scope, value }) => (scope === 'queue' ? [value] : [])));
    const mail = found.filter(({ scope }) => scope !== 'queue' && scope !== 'webhook');
    this.#laneByTarget = new Map(
      mail.flatMap((hold) =>
        hold.active ? [[targetKey(hold.scope, hold.workspace_id, hold.value), holdLane(hold.id)]] : [],
      ),
    );
    this.#guarded = new Set(mail.flatMap((hold) => (hold.active || hold.rate !== null ? [holdLane(hold.id)] : [])));
    this.#heldWebhooks = new Set(active.flatMap(({ scope, value }) => (scope === 'webhook' ? [value] : [])));
    this.#metered = new Map(
      found.flatMap(({ id, scope, value, active, rate }) =>
        scope === 'webhook' && !active && rate !== null ? [[value, id]] : [],
      ),
    );
    // What goes on at a rate begins with nothing.
    const queues = found.filter(({ scope, active, rate }) => scope === 'queue' && !active && rate !== null);
    const names = new Set(queues.map(({ value }) => value));
    for (const name of [...this.#allowances.keys()]) if (!names.has(name)) this.#allowances.delete(name);
    for (const name of names) if (!this.#allowances.has(name)) this.#allowances.set(name, 0);
  }

  /** Shares out the rates of holds that have ended, but for what another hold still stops. */
  async #releaseAtRate(ended: readonly HoldInForce[]): Promise<void> {
    const { sql } = this.#services;
    const drained = await emptyHolds(
      sql,
      ended.map(({ id }) => id),
    );
    const done = drained.length > 0 ? await noteDrained(sql, drained) : new Set<string>();
    const going = ended.filter((hold) => hold.scope !== 'webhook' && !done.has(hold.id) && !this.#isStopped(hold));
    const taken = await takeResumption(
      sql,
      going.map(({ id }) => id),
      MOST_RESUMED,
    );
    for (const { id, scope, value, rate } of going) {
      const count = taken.get(id) ?? 0;
      if (count === 0) continue;
      if (scope === 'queue') {
        // An unused allowance is not saved up for a burst.
        const most = Math.max(count, Math.ceil((rate ?? 0) / 60));
        this.#allowances.set(value, Math.min(most, (this.#allowances.get(value) ?? 0) + count));
      } else for (const listener of this.#resumeListeners) listener(holdLane(id), count);
    }
    if (taken.size > 0) for (const listener of this.#allowanceListeners) listener();
  }

  #isStopped({ scope, value }: HoldInForce): boolean {
    return this.#paused.has(scope === 'queue' ? value : 'delivery.attempt');
  }
}

/** A hold cache that listens and polls until it is stopped. */
export function startHoldCache(services: Services): HoldCache {
  const holds = new HoldCache(services);
  holds.start();
  return holds;
}

function targetKey(scope: HoldInForce['scope'], workspace_id: string, value: string): string {
  return `${scope} ${workspace_id} ${value}`;
}
