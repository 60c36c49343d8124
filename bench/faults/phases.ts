import { setTimeout as pause } from 'node:timers/promises';
import type { Load } from './client.ts';
import type { Database } from './database.ts';
import { type Instance, type Place, slowDomains } from './instance.ts';
import type { FaultOf, Ledgers, WorkerKill } from './ledgers.ts';
import { usualMailFaults } from './mail-sink.ts';
import type { Plan } from './plans.ts';
import type { Slot } from './processes.ts';
import type { Random } from './random.ts';
import { wallTime } from './wall-time.ts';

const RATE_MS = 3000;
const TAKEOVER_POLL_MS = 100;
const TAKEOVER_GIVE_UP_MS = 60_000;
const BOUND_POLL_MS = 250;
/**
 * A worker's limit on unrecorded messages changes each time it records results, so the highest of its last BOUNDS_KEPT
 * samples before a kill counts.
 */
const BOUNDS_KEPT = 4;
const AFTER_CRASH_MS = 8000;
const CUT_WAIT_MS = 10_000;
const LONGER_REPLY_MS = 6000;
const SLOW_ANSWER_MS = 100;
const SLOW_FOR_MS = 1500;
/**
 * Texts that mark the last parameter of a statement: ACCEPT_BYTES when messages are stored, RESULT_BYTES when results
 * are recorded.
 */
const ACCEPT_BYTES = 'Order ';
const RESULT_BYTES = '2.0.0 accepted';

export interface PhaseParts {
  readonly plan: Plan;
  readonly instance: Instance;
  readonly ledgers: Ledgers;
  readonly database: Database;
  readonly load: Load;
  readonly random: Random;
  say(line: string): void;
}

/** Injects the faults of a plan, one phase after another, and records each. */
export class Phases {
  readonly #parts: PhaseParts;
  readonly #killed_at = new Map<string, number>();
  readonly #bounds = new Map<string, number[]>();
  readonly #takeovers: Promise<void>[] = [];

  constructor(parts: PhaseParts) {
    this.#parts = parts;
  }

  async run(): Promise<void> {
    const { plan, instance, ledgers, load, say: print } = this.#parts;
    for (let count = 0; count < plan.slow_peers; count++) {
      for (const domain of slowDomains) load.sendTo(domain);
    }
    await pause(plan.calm_s * 1000);
    if (plan.sink_s > 0) {
      instance.mail.faults = usualMailFaults;
      instance.hooks.faulty = true;
      print('mail servers and endpoints fail occasionally');
      await pause(plan.sink_s * 1000);
    }
    const bounds = setInterval(() => void this.#readBounds(), BOUND_POLL_MS);
    await this.#kills();
    clearInterval(bounds);
    await Promise.all(this.#takeovers);
    // Runs before the database fault: a worker that has just lost its own connection does not consider another worker
    // dead.
    await this.#split();
    await this.#database();
    await this.#pauses();
    await this.#longAnswers();
    while (ledgers.sent.length < plan.messages) await pause(200);
  }

  async #fault(name: string, target: FaultOf, make: () => Promise<unknown>): Promise<void> {
    const at = wallTime();
    await make();
    this.#parts.ledgers.faults.push({ what: name, of: target, at, ended_at: wallTime() });
    this.#parts.say(`${name} (${wallTime() - at} ms)`);
  }

  /**
   * Kills workers and APIs in turn. A slot is killed again no sooner than twice its start time after its last kill, and
   * only while the other slot of its role is ready to take over.
   */
  async #kills(): Promise<void> {
    const { instance, plan, random } = this.#parts;
    const { worker_kills, api_kills, kill_gap_s } = plan;
    const order: { readonly place: Place; readonly among: readonly Place[]; readonly of: FaultOf }[] = [];
    const add = (targets: readonly Place[], number: number, target: FaultOf) => {
      const place = targets[number % targets.length];
      if (place) order.push({ place, among: targets, of: target });
    };
    for (let kill = 0, api = 0; kill < worker_kills; kill++) {
      add(instance.workers, kill, 'worker');
      while (api < Math.round(((kill + 1) * api_kills) / worker_kills)) add(instance.apis, api++, 'api');
    }
    for (const { place, among: targets, of: target } of order) {
      const { slot } = place;
      await slot.untilReady();
      const free_at = (this.#killed_at.get(slot.name) ?? 0) + 2 * startTime(place);
      await pause(Math.max(random.between(kill_gap_s[0] * 1000, kill_gap_s[1] * 1000), free_at - wallTime()));
      for (const other of targets) await other.slot.untilReady();
      if (target === 'worker') await this.#killWorker(place);
      else await this.#fault(`kill -9 ${slot.name}`, target, () => slot.kill());
      this.#killed_at.set(slot.name, wallTime());
    }
    for (const { slot } of [...instance.workers, ...instance.apis]) await slot.untilReady();
  }

  async #killWorker(place: Place): Promise<void> {
    const { database, ledgers, say: print } = this.#parts;
    const { slot } = place;
    const life = slot.life();
    const worker = await database.workerFrom(place.database.ports());
    const backlog = await database.openRecipients();
    await this.#readBound(slot);
    const bounds = this.#bounds.get(slot.name) ?? [];
    const before = this.#killed_at.get(slot.name);
    await this.#fault(`kill -9 ${slot.name}`, 'worker', () => slot.kill());
    const at = ledgers.faults.at(-1)?.at ?? wallTime();
    const jobs = worker === null ? [] : await database.jobsOf(worker);
    const kill: WorkerKill = {
      slot: slot.name,
      at,
      lived_ms: at - (life.ready_at ?? at),
      start_ms: (life.ready_at ?? at) - life.started_at,
      since_last_kill_ms: before === undefined ? null : at - before,
      messages_per_second:
        ledgers.seen.filter((arrival) => arrival.at > at - RATE_MS && arrival.at <= at).length / (RATE_MS / 1000),
      backlog,
      bound: bounds.length === 0 ? null : Math.max(...bounds),
      held: jobs.length,
      taken_over_at: null,
    };
    ledgers.kills.push(kill);
    this.#bounds.delete(slot.name);
    print(
      `  lived ${(kill.lived_ms / 1000).toFixed(1)} s, ${kill.messages_per_second.toFixed(0)} messages per second, ` +
        `${backlog} open, held ${kill.held}${kill.bound === null ? '' : `, bound ${kill.bound}`}`,
    );
    if (worker !== null) this.#takeovers.push(this.#watchTakeover(kill, worker, jobs));
  }

  async #watchTakeover(kill: WorkerKill, worker: string, jobs: readonly string[]): Promise<void> {
    const until = wallTime() + TAKEOVER_GIVE_UP_MS;
    while (wallTime() < until) {
      if ((await this.#parts.database.jobsLeft(worker, jobs)) === 0) {
        kill.taken_over_at = wallTime();
        return;
      }
      await pause(TAKEOVER_POLL_MS);
    }
  }

  async #readBounds(): Promise<void> {
    await Promise.all(this.#parts.instance.workers.map(({ slot }) => this.#readBound(slot)));
  }

  async #readBound(slot: Slot): Promise<void> {
    const life = slot.life();
    const bound = await slot.gauge('postrider_unrecorded_mails_limit');
    if (bound === null || slot.life() !== life) return;
    this.#bounds.set(slot.name, [...(this.#bounds.get(slot.name) ?? []), bound].slice(-BOUNDS_KEPT));
  }

  async #database(): Promise<void> {
    const { plan, instance } = this.#parts;
    const { postgres, apis, workers } = instance;
    for (let crash = 0; crash < plan.crashes; crash++) {
      await this.#fault('Postgres crashed', 'database', () => postgres.crash());
      await pause(AFTER_CRASH_MS);
    }
    for (let cut = 0; cut < plan.cuts; cut++) {
      await this.#fault('API cut off before its messages were stored', 'database', () =>
        cutOne(apis, 'cutBefore', ACCEPT_BYTES),
      );
      await this.#fault('API cut off after its messages were stored', 'database', () =>
        cutOne(apis, 'cutAfter', ACCEPT_BYTES),
      );
      await this.#fault('worker cut off before its results were recorded', 'database', () =>
        cutOne(workers, 'cutBefore', RESULT_BYTES),
      );
      await this.#fault('worker cut off after its results were recorded', 'database', () =>
        cutOne(workers, 'cutAfter', RESULT_BYTES),
      );
      await pause(1000);
    }
    const paths = [...apis, ...workers].map(({ database }) => database);
    if (plan.half_closes) {
      await this.#fault('database responding slowly', 'database', async () => {
        for (const path of paths) path.delay(SLOW_ANSWER_MS);
        await pause(SLOW_FOR_MS);
        for (const path of paths) path.delay(0);
      });
      await this.#fault('database connections half closed', 'database', async () => {
        for (const group of [apis, workers]) group[0]?.database.halfClose();
      });
      await this.#fault('mail server connections half closed', 'mail', async () => instance.mail_path.halfClose());
      await pause(1000);
    }
    const mute = async (seconds: number, end: () => void) => {
      for (const path of paths) path.mute(true);
      await pause(seconds * 1000);
      end();
      for (const path of paths) path.mute(false);
    };
    if (plan.freeze_database_s > 0) {
      await this.#fault('database frozen', 'database', () => mute(plan.freeze_database_s, () => undefined));
      await pause(10_000);
    }
    if (plan.mute_database_s > 0) {
      await this.#fault('database unreachable without an error', 'database', () =>
        mute(plan.mute_database_s, () => {
          for (const path of paths) path.cutAll();
        }),
      );
      // Gives clients time to retry the requests that failed, so that the next fault hits the usual load.
      await pause(plan.mute_database_s > 10 ? 25_000 : 3000);
    }
  }

  /**
   * Freezes a worker and cuts its connections until another worker has taken over its messages, then resumes it with
   * its late results.
   */
  async #split(): Promise<void> {
    const { plan, instance, ledgers, database, say: print } = this.#parts;
    const { workers, mail } = instance;
    const place = workers[0];
    if (plan.split_s === 0 || !place) return;
    const from = wallTime();
    // The frozen worker's results arrive while the worker that took over is still sending.
    mail.reply_ms = LONGER_REPLY_MS;
    await pause(1500);
    const worker = await database.workerFrom(place.database.ports());
    await this.#fault(`${place.slot.name} stopped and cut off`, 'pause', async () => {
      const release = Promise.withResolvers<void>();
      const frozen = place.slot.freeze(release.promise);
      place.database.cutAll();
      const jobs = worker === null ? [] : await database.jobsOf(worker);
      const until = wallTime() + TAKEOVER_GIVE_UP_MS;
      let remaining = jobs.length;
      for (
        const earliest = wallTime() + plan.split_s * 1000;
        wallTime() < earliest || (remaining > 0 && wallTime() < until);
      ) {
        await pause(TAKEOVER_POLL_MS);
        remaining = worker === null ? 0 : await database.jobsLeft(worker, jobs);
      }
      ledgers.splits.push({ slot: place.slot.name, held: jobs.length, left: remaining });
      print(`  held ${jobs.length}, ${remaining} not taken over`);
      release.resolve();
      await frozen;
    });
    mail.reply_ms = 0;
    await pause(LONGER_REPLY_MS);
    ledgers.slow_times.push({ from, to: wallTime() });
  }

  async #pauses(): Promise<void> {
    const { plan, instance } = this.#parts;
    const { workers, apis } = instance;
    for (let zombie = 0; zombie < plan.zombies; zombie++) {
      const slot = workers[zombie % workers.length]?.slot;
      if (slot) await this.#fault(`${slot.name} stopped`, 'pause', () => slot.freeze(pause(plan.zombie_s * 1000)));
    }
    if (!plan.rolling_restart) return;
    for (const { slot } of [...workers, ...apis]) {
      await this.#fault(`SIGTERM ${slot.name}`, 'stop', () => slot.restart());
      await slot.untilReady();
    }
  }

  /** Keeps messages in transit for longer than a lease would last without renewal. */
  async #longAnswers(): Promise<void> {
    const { plan, instance, say: print } = this.#parts;
    if (plan.long_answer_s === 0) return;
    instance.mail.reply_ms = plan.long_answer_s * 1000;
    await pause(1000);
    instance.mail.reply_ms = 0;
    print(`responses to one second of email are delayed by ${plan.long_answer_s} s`);
  }
}

function startTime({ slot }: Place): number {
  const { started_at, ready_at } = slot.life();
  return (ready_at ?? started_at) - started_at;
}

/** Cuts the connection of the first process that sends these bytes. */
async function cutOne(places: readonly Place[], side: 'cutBefore' | 'cutAfter', bytes: string): Promise<void> {
  const end = new AbortController();
  await Promise.race([pause(CUT_WAIT_MS), ...places.map(({ database }) => database[side](bytes, end.signal))]);
  end.abort();
}
