import type { Services } from '@postrider/core';
import {
  attemptDelivery,
  type Claimed,
  claimDeliveries,
  LEASE_SECONDS,
  type Mailers,
  renewLeases,
  type Settled,
  settleDeliveries,
  showAttempts,
  unansweredDelivery,
  withoutWords,
} from '@postrider/core/delivery';
import { every } from './schedules.ts';
import { createTurns } from './turns.ts';

// Fetch up to 200 while fewer than 600 are in flight; settle 200 at once, or what there is after 15 ms, or what has
// come in while the last results were being settled.
const FETCH_COUNT = 200;
const MOST_IN_FLIGHT = 600;
// A large mail takes several times its size while it is read, composed and sent.
const MOST_LARGE = 4;
const SETTLE_COUNT = 200;
const SETTLE_MS = 15;
const MOST_SETTLES = 30;
// Wakes are hints, and none is sent for jobs that become due later: this is the floor under them.
const POLL_MS = 500;
const RENEW_MS = 10_000;
// Attempts that take longer than this are shown in the status of their messages before they end.
const SHOW_MS = 250;
// Counted from before the claim, so that this clock always ends before the database's does.
const LEASE_MS = (LEASE_SECONDS - 5) * 1000;
// SIGTERM leaves 15 s for everything. First sends may end by themselves; then those before the dot are handed
// back; then those past it are recorded as unknown; at last a database that does not answer is given up.
const HAND_BACK_MS = 5000;
const UNANSWERED_MS = 6000;
const GIVE_UP_MS = 8000;

export interface Pump {
  stop(): Promise<void>;
}

interface InFlight {
  readonly claimed: Claimed;
  readonly started: number;
  readonly abort: AbortController;
  /** Aborts what is not past the dot once the lease may have gone to somebody else. */
  readonly lease_timer: NodeJS.Timeout;
  sent: boolean;
  shown: boolean;
}

/** Moves deliveries: fetch → claim → send → settle. A batch never waits for its slowest member. */
export function startDeliveryPump(services: Services, mailers: Mailers): Pump {
  const inFlight = new Map<string, InFlight>();
  const finished: Settled[] = [];
  let settleTimer: NodeJS.Timeout | null = null;
  let settling = 0;
  let pollTimer: NodeJS.Timeout | null = null;
  let fetching: Promise<void> | null = null;
  let again = false;
  let stopped = false;
  let given_up = false;
  const largeTurn = createTurns(MOST_LARGE);

  const poll = () => {
    if (stopped) return;
    if (fetching) {
      again = true;
      return;
    }
    if (pollTimer) clearTimeout(pollTimer);
    pollTimer = null;
    again = false;
    fetching = fetchOnce()
      .catch((error) => {
        services.log.error({ err: error }, 'deliveries could not be fetched');
        return false;
      })
      .then((more) => {
        fetching = null;
        again ||= more;
        if (stopped) return;
        if (again && inFlight.size < MOST_IN_FLIGHT) poll();
        else pollTimer ??= setTimeout(poll, POLL_MS);
      });
  };

  /** Whether there may be more than was taken. */
  const fetchOnce = async (): Promise<boolean> => {
    const count = Math.min(FETCH_COUNT, MOST_IN_FLIGHT - inFlight.size);
    if (count <= 0) return true;
    const jobs = await services.jobs.fetch('delivery.attempt', count);
    if (jobs.length === 0) return false;
    const asked = performance.now();
    for (const claimed of await claimDeliveries(services, jobs)) void send(claimed, asked);
    return jobs.length === count;
  };

  const send = async (claimed: Claimed, asked: number) => {
    const abort = new AbortController();
    const lease_left = Math.max(0, LEASE_MS - (performance.now() - asked));
    const lease_timer = setTimeout(() => abort.abort(), lease_left);
    const entry: InFlight = { claimed, started: performance.now(), abort, lease_timer, sent: false, shown: false };
    inFlight.set(claimed.lease, entry);
    const attempt = () => attemptDelivery(services, mailers, claimed, abort.signal);
    const result = claimed.content.large ? await largeTurn(attempt) : await attempt();
    if (entry.sent) return;
    const { kind, reply } = result.outcome;
    finish(entry, { ...result, handed_back: abort.signal.aborted && kind === 'deferred' && reply === null });
  };

  const finish = (entry: InFlight, result: Settled) => {
    entry.sent = true;
    clearTimeout(entry.lease_timer);
    finished.push(result);
    if (finished.length >= SETTLE_COUNT) settleNow();
    else if (settling === 0) settleTimer ??= setTimeout(settleNow, SETTLE_MS);
  };

  const settleNow = () => {
    if (settleTimer) clearTimeout(settleTimer);
    settleTimer = null;
    const batch = finished.splice(0);
    if (batch.length === 0) return;
    settling += 1;
    // Nobody waits for a batch that has failed: it is tried again beside the others.
    let awaited = true;
    const onTried = () => {
      if (!awaited) return;
      awaited = false;
      settling -= 1;
      settleNow();
    };
    void settle(batch, onTried).then(() => {
      onTried();
      for (const { claimed } of batch) inFlight.delete(claimed.lease);
      // Room has come free, and what filled it may wait for it.
      if (inFlight.size < MOST_IN_FLIGHT - FETCH_COUNT / 2 && again) poll();
    });
  };

  /**
   * Outlives a restart of the database; what cannot be recorded in time is found again by its lease. A result
   * that the database refuses for what it says is found by halving, and recorded without the other side's words:
   * left alone, it and its neighbours would be sent again at the end of every lease.
   */
  const settle = async (results: readonly Settled[], onTried: () => void, attempts = 0): Promise<void> => {
    let batch = results;
    for (let attempt = attempts + 1; ; attempt++) {
      try {
        await settleDeliveries(services, batch);
        return;
      } catch (error) {
        onTried();
        services.log.error({ err: error, count: batch.length, attempt }, 'results of deliveries could not be recorded');
        if (attempt >= MOST_SETTLES || given_up) return;
        if (attempt >= 3 && isRefused(error)) {
          if (batch.length > 1) {
            const middle = batch.length >> 1;
            const halves = [batch.slice(0, middle), batch.slice(middle)];
            await Promise.all(halves.map((half) => settle(half, onTried, attempt)));
            return;
          }
          batch = batch.map(withoutWords);
        }
        await new Promise((resolve) => setTimeout(resolve, Math.min(2000, 50 * 2 ** attempt)));
      }
    }
  };

  const renewer = every(
    RENEW_MS,
    async () => {
      const held = [...inFlight.values()];
      if (held.length === 0) return;
      const asked = performance.now();
      const kept = await renewLeases(
        services.sql,
        held.map(({ claimed: { delivery, lease } }) => ({
          workspace_id: delivery.workspace_id,
          message_id: delivery.message_id,
          recipient_id: delivery.recipient_id,
          lease,
        })),
      );
      // Whoever lost the lease must not reach the dot: another worker may be sending the same copy. A renewal
      // that took long was done at its beginning, for all that is known.
      const late = performance.now() - asked > RENEW_MS / 2;
      for (const { claimed, abort, lease_timer, sent } of held) {
        if (sent) continue;
        if (!kept.has(claimed.lease)) abort.abort();
        else if (!late) lease_timer.refresh();
      }
      await services.jobs.touch(
        'delivery.attempt',
        held.map(({ claimed }) => claimed.job),
      );
    },
    services,
  );

  const shower = every(
    SHOW_MS,
    async () => {
      const now = performance.now();
      const lasting = [...inFlight.values()].filter(
        (entry) => !entry.sent && !entry.shown && now - entry.started >= SHOW_MS,
      );
      if (lasting.length === 0) return;
      for (const entry of lasting) entry.shown = true;
      await showAttempts(
        services.sql,
        lasting.map(({ claimed }) => claimed.job.data),
      );
    },
    services,
  );

  const unsubscribe = services.jobs.onWake('delivery.attempt', poll);
  poll();

  return {
    async stop() {
      stopped = true;
      unsubscribe();
      if (pollTimer) clearTimeout(pollTimer);
      const deadlines = [
        setTimeout(() => {
          for (const { abort } of inFlight.values()) abort.abort();
        }, HAND_BACK_MS),
        setTimeout(() => {
          for (const entry of inFlight.values()) {
            if (!entry.sent) finish(entry, unansweredDelivery(entry.claimed, performance.now() - entry.started));
          }
        }, UNANSWERED_MS),
        setTimeout(() => {
          given_up = true;
        }, GIVE_UP_MS),
      ];
      while ((fetching || inFlight.size > 0) && !given_up) {
        settleNow();
        await new Promise((resolve) => setTimeout(resolve, SETTLE_MS));
      }
      for (const deadline of deadlines) clearTimeout(deadline);
      await renewer.stop();
      await shower.stop();
    },
  };
}

/** SQLSTATE classes 22 and 23: the data is at fault, and would be tomorrow too. */
function isRefused(error: unknown): boolean {
  return (
    error instanceof Error && error.name === 'PostgresError' && 'code' in error && /^2[23]/.test(String(error.code))
  );
}
