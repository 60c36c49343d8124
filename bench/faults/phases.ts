import { setTimeout as pause } from 'node:timers/promises';
import type { Instance } from './instance.ts';
import type { Ledgers } from './ledgers.ts';
import { usualMailFaults } from './mail-sink.ts';
import type { Slot } from './processes.ts';
import type { Random } from './random.ts';
import { wallTime } from './wall-time.ts';

export interface Plan {
  readonly calm_s: number;
  readonly sink_s: number;
  readonly worker_kills: number;
  readonly api_kills: number;
  readonly crashes: number;
  readonly freeze_database_s: number;
  readonly mute_database_s: number;
  readonly cut_commits: number;
  readonly zombies: number;
  readonly zombie_s: number;
  readonly rolling_restart: boolean;
  readonly messages: number;
  readonly per_second: number;
  readonly horizon_s: number;
  readonly drain_s: number;
}

export const plans: Readonly<Record<'full' | 'slice', Plan>> = {
  full: {
    calm_s: 20,
    sink_s: 40,
    worker_kills: 20,
    api_kills: 6,
    crashes: 3,
    freeze_database_s: 15,
    mute_database_s: 20,
    cut_commits: 2,
    zombies: 2,
    zombie_s: 25,
    rolling_restart: true,
    messages: 10_000,
    per_second: 90,
    horizon_s: 120,
    drain_s: 240,
  },
  slice: {
    calm_s: 3,
    sink_s: 4,
    worker_kills: 4,
    api_kills: 1,
    crashes: 1,
    freeze_database_s: 0,
    mute_database_s: 0,
    cut_commits: 1,
    zombies: 0,
    zombie_s: 0,
    rolling_restart: false,
    messages: 1000,
    per_second: 40,
    horizon_s: 15,
    drain_s: 60,
  },
};

const FIRST_START_MS = 3000;

/** Makes the faults of a plan, one phase after the other, and writes each down. */
export class Phases {
  readonly #plan: Plan;
  readonly #instance: Instance;
  readonly #ledgers: Ledgers;
  readonly #random: Random;
  readonly #say: (line: string) => void;

  constructor(plan: Plan, instance: Instance, ledgers: Ledgers, random: Random, say: (line: string) => void) {
    this.#plan = plan;
    this.#instance = instance;
    this.#ledgers = ledgers;
    this.#random = random;
    this.#say = say;
  }

  async run(): Promise<void> {
    await pause(this.#plan.calm_s * 1000);
    this.#instance.mail.faults = usualMailFaults;
    this.#instance.hooks.faulty = true;
    this.#say('mail servers and endpoints fail now and then');
    await pause(this.#plan.sink_s * 1000);
    await this.#kills();
    await this.#database();
    await this.#zombies();
    while (this.#ledgers.sent.length < this.#plan.messages) await pause(200);
  }

  async #fault(what: string, make: () => Promise<unknown> | unknown): Promise<void> {
    const at = wallTime();
    await make();
    this.#ledgers.faults.push({ what, at, ended_at: wallTime() });
    this.#say(`${what} (${wallTime() - at} ms)`);
  }

  /** Workers and APIs in turn, each slot killed again no sooner than twice its start time after the kill before. */
  async #kills(): Promise<void> {
    const { workers, apis } = this.#instance;
    const order: Slot[] = [];
    const { worker_kills, api_kills } = this.#plan;
    for (let kill = 0; kill < worker_kills; kill++) {
      const worker = workers[kill % workers.length];
      if (worker) order.push(worker);
      const api = apis[order.length % apis.length];
      const owed = Math.round(((kill + 1) * api_kills) / worker_kills) - Math.round((kill * api_kills) / worker_kills);
      if (owed > 0 && api) order.push(api);
    }
    const killed_at = new Map<string, number>();
    for (const slot of order) {
      const gap_ms = 2 * this.#startTimeOf(slot.name);
      const free_at = (killed_at.get(slot.name) ?? 0) + gap_ms;
      await pause(Math.max(this.#random.between(100, 1500), free_at - wallTime()));
      await slot.untilReady();
      killed_at.set(slot.name, wallTime());
      await this.#fault(`kill -9 ${slot.name}`, () => slot.kill());
    }
    for (const slot of [...workers, ...apis]) await slot.untilReady();
  }

  #startTimeOf(slot: string): number {
    const starts = this.#ledgers.lives
      .filter((life) => life.slot === slot && life.ready_at !== null)
      .map((life) => (life.ready_at ?? 0) - life.started_at);
    return starts.at(-1) ?? FIRST_START_MS;
  }

  async #database(): Promise<void> {
    const { postgres, database } = this.#instance;
    for (let crash = 0; crash < this.#plan.crashes; crash++) {
      await this.#fault('crash of Postgres', () => postgres.crash());
      await pause(8000);
    }
    for (let cut = 0; cut < this.#plan.cut_commits; cut++) {
      await this.#fault('connection cut after a commit', () =>
        Promise.race([database.cutAfter('commit'), pause(10_000)]),
      );
      await pause(1000);
    }
    for (const [what, seconds] of [
      ['database frozen', this.#plan.freeze_database_s],
      ['database unreachable without an error', this.#plan.mute_database_s],
    ] as const) {
      if (seconds === 0) continue;
      await this.#fault(what, async () => {
        database.mute(true);
        await pause(seconds * 1000);
        if (what.startsWith('database unreachable')) database.cutAll();
        database.mute(false);
      });
      await pause(10_000);
    }
  }

  async #zombies(): Promise<void> {
    const { workers, apis } = this.#instance;
    for (let zombie = 0; zombie < this.#plan.zombies; zombie++) {
      const worker = workers[zombie % workers.length];
      if (worker) await this.#fault(`${worker.name} frozen`, () => worker.freeze(this.#plan.zombie_s * 1000));
    }
    if (!this.#plan.rolling_restart) return;
    for (const slot of [...workers, ...apis]) {
      await this.#fault(`SIGTERM ${slot.name}`, () => slot.restart());
      await slot.untilReady();
    }
  }
}
