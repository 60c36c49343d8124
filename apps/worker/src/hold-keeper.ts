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
import { roomOf } from '@postrider/core/lanes';
import { every } from './schedules.ts';

// A hold counts on every worker within two seconds: the word that is sent with its commit is quicker, and may be lost.
const LOOK_MS = 1000;
/** At most so much of a rate at once, for each hold and look. */
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

export interface HoldKeeper {
  /** The first look is over. */
  readonly ready: Promise<void>;
  isPaused(queue: JobName): boolean;
  /** The room in which mail waits that a hold keeps back; null for all other mail. */
  roomOf(mail: HeldFacts): string | null;
  /** Whether a room is only left by a rate, or not at all. */
  guards(lane: string): boolean;
  /** How much of a queue may go now, after a hold with a rate; null where it is free. */
  allowance(queue: JobName): number | null;
  spend(queue: JobName, count: number): void;
  /** Whether a webhook is held. */
  isHeld(webhook_id: string): boolean;
  /** Whether a webhook goes on at the rate of a hold that has ended. */
  isMetered(webhook_id: string): boolean;
  /** How many of so many that rate leaves now. */
  take(webhook_id: string, count: number): Promise<number>;
  /** Mail of a room may go on. */
  onResume(listener: (room: string, count: number) => void): void;
  /** Some hold has begun or ended. */
  onChange(listener: () => void): void;
  /** What goes on at a rate has got more of it. */
  onAllowance(listener: () => void): void;
  stop(): Promise<void>;
}

/** Keeps what this worker knows of holds in step with the database, and shares out the rates of those that have ended. */
export function createHoldKeeper(services: Services): HoldKeeper {
  const { sql, log } = services;
  const changeListeners: (() => void)[] = [];
  const allowanceListeners: (() => void)[] = [];
  const resumeListeners: ((room: string, count: number) => void)[] = [];
  let fingerprint = '[]';
  let paused = new Set<string>();
  /** Rooms by what is held: scope, workspace and value. */
  let rooms = new Map<string, string>();
  let guarded = new Set<string>();
  let heldWebhooks = new Set<string>();
  /** The ended hold at whose rate a webhook goes on. */
  let metered = new Map<string, string>();
  const allowances = new Map<string, number>();
  let looking: Promise<void> | null = null;
  let again = false;
  let stopped = false;

  const look = async () => {
    const found = await holdsInForce(sql);
    if (found.some((hold) => hold.expired)) {
      // Where somebody else is about to note it, the next look sees that.
      if ((await endExpiredHolds(services)) > 0) again = true;
    }
    const next = JSON.stringify(found.map(({ id, active }) => [id, active]));
    if (next !== fingerprint) {
      fingerprint = next;
      learn(found);
      for (const listener of changeListeners) listener();
    }
    const ended = found.filter(({ active, expired, rate }) => !active && !expired && rate !== null);
    if (ended.length > 0) await goOn(ended);
  };

  const learn = (found: readonly HoldInForce[]) => {
    const active = found.filter((hold) => hold.active);
    paused = new Set(active.flatMap(({ scope, value }) => (scope === 'queue' ? [value] : [])));
    const mail = found.filter(({ scope }) => scope !== 'queue' && scope !== 'webhook');
    rooms = new Map(
      mail.flatMap((hold) =>
        hold.active ? [[placeOf(hold.scope, hold.workspace_id, hold.value), roomOf(hold.id)]] : [],
      ),
    );
    guarded = new Set(mail.flatMap((hold) => (hold.active || hold.rate !== null ? [roomOf(hold.id)] : [])));
    heldWebhooks = new Set(active.flatMap(({ scope, value }) => (scope === 'webhook' ? [value] : [])));
    metered = new Map(
      found.flatMap(({ id, scope, value, active, rate }) =>
        scope === 'webhook' && !active && rate !== null ? [[value, id]] : [],
      ),
    );
    // What goes on at a rate begins with nothing.
    const queues = found.filter(({ scope, active, rate }) => scope === 'queue' && !active && rate !== null);
    const names = new Set(queues.map(({ value }) => value));
    for (const name of [...allowances.keys()]) if (!names.has(name)) allowances.delete(name);
    for (const name of names) if (!allowances.has(name)) allowances.set(name, 0);
  };

  /** Shares out the rates of holds that have ended, but for what another hold still stops. */
  const goOn = async (ended: readonly HoldInForce[]) => {
    const drained = await emptyHolds(
      sql,
      ended.map(({ id }) => id),
    );
    const done = drained.length > 0 ? await noteDrained(sql, drained) : new Set<string>();
    const going = ended.filter((hold) => hold.scope !== 'webhook' && !done.has(hold.id) && !isStopped(hold));
    const taken = await takeResumption(
      sql,
      going.map(({ id }) => id),
      MOST_RESUMED,
    );
    for (const { id, scope, value, rate } of going) {
      const count = taken.get(id) ?? 0;
      if (count === 0) continue;
      if (scope === 'queue') {
        // What was not used is not saved up for a burst.
        const most = Math.max(count, Math.ceil((rate ?? 0) / 60));
        allowances.set(value, Math.min(most, (allowances.get(value) ?? 0) + count));
      } else for (const listener of resumeListeners) listener(roomOf(id), count);
    }
    if (taken.size > 0) for (const listener of allowanceListeners) listener();
  };

  const isStopped = ({ scope, value }: HoldInForce): boolean =>
    paused.has(scope === 'queue' ? value : 'delivery.attempt');

  const lookSoon = (): Promise<void> => {
    if (looking) {
      again = true;
      return looking;
    }
    again = false;
    looking = look()
      .catch((error) => log.error({ err: error }, 'holds could not be looked at'))
      .then(() => {
        looking = null;
        if (again && !stopped) void lookSoon();
      });
    return looking;
  };

  // Listens before it looks, so that no hold is made unheard between the two.
  const listening = sql
    .listen(HOLDS_CHANNEL, () => void lookSoon())
    .catch((error) => {
      log.error({ err: error }, 'the word of holds cannot be heard; each second is looked for them');
      return null;
    });
  const ready = listening.then(lookSoon);
  const looker = every(LOOK_MS, lookSoon, services);

  return {
    ready,
    isPaused: (queue) => paused.has(queue),
    roomOf({ workspace_id, from_domain, api_key_id, email, lane }) {
      if (rooms.size === 0) return null;
      return (
        rooms.get(placeOf('sender_domain', workspace_id, from_domain)) ??
        (api_key_id === null ? undefined : rooms.get(placeOf('api_key', workspace_id, api_key_id))) ??
        (lane === null ? undefined : rooms.get(placeOf('destination', '', email.slice(email.lastIndexOf('@') + 1)))) ??
        (lane === null ? undefined : rooms.get(placeOf('destination', '', lane))) ??
        null
      );
    },
    guards: (lane) => guarded.has(lane),
    allowance: (name) => allowances.get(name) ?? null,
    spend(name, count) {
      const left = allowances.get(name);
      if (left !== undefined) allowances.set(name, Math.max(0, left - count));
    },
    isHeld: (webhook_id) => heldWebhooks.has(webhook_id),
    isMetered: (webhook_id) => metered.has(webhook_id),
    async take(webhook_id, count) {
      // It may have been released a moment ago, and then go on at a rate that is not known here yet.
      if (heldWebhooks.has(webhook_id)) return 0;
      const id = metered.get(webhook_id);
      if (id === undefined) return count;
      return (await takeResumption(sql, [id], count)).get(id) ?? 0;
    },
    onResume: (listener) => void resumeListeners.push(listener),
    onChange: (listener) => void changeListeners.push(listener),
    onAllowance: (listener) => void allowanceListeners.push(listener),
    async stop() {
      stopped = true;
      await looker.stop();
      await ready;
      await looking;
      await (await listening)?.unlisten();
    },
  };
}

function placeOf(scope: HoldInForce['scope'], workspace_id: string, value: string): string {
  return `${scope} ${workspace_id} ${value}`;
}
