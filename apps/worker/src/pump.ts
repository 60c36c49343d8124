import type { Services } from '@postrider/core';
import {
  attemptDelivery,
  type Claimed,
  claimDeliveries,
  type Mailers,
  renewLeases,
  type Settled,
  settleDeliveries,
} from '@postrider/core/delivery';
import { every } from './schedules.ts';

// Fetch up to 200 while fewer than 600 are in flight; settle 200 at once, or what there is after 15 ms.
const FETCH_COUNT = 200;
const MOST_IN_FLIGHT = 600;
const SETTLE_COUNT = 200;
const SETTLE_MS = 15;
// Wakes are hints, and none is sent for jobs that become due later: this is the floor under them.
const POLL_MS = 1000;
const RENEW_MS = 10_000;
// SIGTERM leaves 15 s; what is not settled by then was handed back or is past the dot.
const STOP_MS = 10_000;

export interface Pump {
  stop(): Promise<void>;
}

interface InFlight {
  readonly claimed: Claimed;
  readonly abort: AbortController;
}

/** Moves deliveries: fetch → claim → send → settle. A batch never waits for its slowest member. */
export function startDeliveryPump(services: Services, mailers: Mailers): Pump {
  const inFlight = new Map<string, InFlight>();
  const finished: Settled[] = [];
  const settling = new Set<Promise<void>>();
  let settleTimer: NodeJS.Timeout | null = null;
  let pollTimer: NodeJS.Timeout | null = null;
  let fetching: Promise<void> | null = null;
  let again = false;
  let stopped = false;

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
      .then((full) => {
        fetching = null;
        if (stopped) return;
        if ((full || again) && inFlight.size < MOST_IN_FLIGHT) poll();
        else pollTimer ??= setTimeout(poll, POLL_MS);
      });
  };

  const fetchOnce = async (): Promise<boolean> => {
    const count = Math.min(FETCH_COUNT, MOST_IN_FLIGHT - inFlight.size);
    if (count <= 0) return false;
    const jobs = await services.jobs.fetch('delivery.attempt', count);
    if (jobs.length === 0) return false;
    for (const claimed of await claimDeliveries(services, jobs)) void send(claimed);
    return jobs.length === count;
  };

  const send = async (claimed: Claimed) => {
    const abort = new AbortController();
    inFlight.set(claimed.lease, { claimed, abort });
    const result = await attemptDelivery(services, mailers, claimed, abort.signal);
    const handed_back = abort.signal.aborted && result.outcome.kind === 'deferred';
    finished.push({ ...result, handed_back });
    if (finished.length >= SETTLE_COUNT) settleNow();
    else settleTimer ??= setTimeout(settleNow, SETTLE_MS);
  };

  const settleNow = () => {
    if (settleTimer) clearTimeout(settleTimer);
    settleTimer = null;
    const batch = finished.splice(0);
    if (batch.length === 0) return;
    const done = settle(batch).finally(() => {
      settling.delete(done);
      for (const { claimed } of batch) inFlight.delete(claimed.lease);
      // Room has come free, and what filled it may wait for it.
      if (inFlight.size < MOST_IN_FLIGHT - FETCH_COUNT / 2 && again) poll();
    });
    settling.add(done);
  };

  /** Outlives a restart of the database; what cannot be recorded in time is found again by its lease. */
  const settle = async (batch: readonly Settled[]) => {
    for (let attempt = 1; ; attempt++) {
      try {
        await settleDeliveries(services, batch);
        return;
      } catch (error) {
        services.log.error({ err: error, count: batch.length, attempt }, 'results of deliveries could not be recorded');
        if (attempt >= 30) return;
        await new Promise((resolve) => setTimeout(resolve, Math.min(2000, 100 * 2 ** attempt)));
      }
    }
  };

  const renewer = every(
    RENEW_MS,
    async () => {
      const held = [...inFlight.values()];
      if (held.length === 0) return;
      await services.jobs.touch(
        'delivery.attempt',
        held.map(({ claimed }) => claimed.job),
      );
      const kept = await renewLeases(
        services.sql,
        held.map(({ claimed: { delivery, lease } }) => ({
          workspace_id: delivery.workspace_id,
          message_id: delivery.message_id,
          recipient_id: delivery.recipient_id,
          lease,
        })),
      );
      // Whoever lost the lease must not reach the dot: another worker may be sending the same copy.
      for (const { claimed, abort } of held) {
        if (inFlight.has(claimed.lease) && !kept.has(claimed.lease)) abort.abort();
      }
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
      await fetching;
      const deadline = setTimeout(() => {
        for (const { abort } of inFlight.values()) abort.abort();
      }, STOP_MS);
      while (inFlight.size > 0) {
        settleNow();
        await Promise.race([...settling, new Promise((resolve) => setTimeout(resolve, SETTLE_MS))]);
      }
      clearTimeout(deadline);
      await renewer.stop();
    },
  };
}
