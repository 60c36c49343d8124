import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import type { Tx } from '@postrider/db';
import type { Services } from '../operation/context.ts';
import { measureQueues, queueNames } from '../queues/index.ts';
import { type AlarmNumbers, NO_ALARMS, readingsOf } from './read-instance.ts';
import { type InstanceNumbers, instanceNumbers } from './store.ts';
import { forgetProcess, noteProcess, takeWatch } from './watch-store.ts';

export const WATCH_MS = 15_000;
// If the watching process dies, another takes over after this time.
const WATCH_SECONDS = 40;
// Workers measure the queues every ten seconds. Measurements are older than this only if no worker is left, which must
// be noticed in time to be reported within a minute.
const STALE_SECONDS = 15;

/** Judges the instance's numbers in the transaction of the process that watches it. */
export interface Judge {
  /** Returns how many alarms are active, how many notices are pending, and an action to run after the commit. */
  judge(tx: Tx, numbers: InstanceNumbers): Promise<AlarmNumbers & { after(): Promise<void> }>;
  /** Called when the database has responded to this process, whether or not the process watches the instance. */
  answered(): Promise<void>;
  /** Called when the numbers could not be read. */
  failed(error: unknown): Promise<void>;
}

export interface InstanceWatch {
  readonly process_id: string;
  /**
   * Takes one turn: records a heartbeat and, if this process watches the instance, reads and judges its numbers.
   * Returns whether this process watches the instance.
   */
  turn(): Promise<boolean>;
  stop(): Promise<void>;
}

/**
 * Creates the watch of an instance. Every process records a heartbeat; one process at a time reads the instance's
 * numbers, publishes them with its own metrics and has them judged.
 */
export function createInstanceWatch(services: Services, judge: Judge | null): InstanceWatch {
  const { sql, clock, config, metrics, log } = services;
  const process_id = randomUUID();
  const look = async (): Promise<boolean> => {
    await noteProcess(sql, {
      id: process_id,
      roles: config.ROLES,
      host: hostname(),
      now_ms: clock.now(),
      pool_waiting: sql.waiting(),
    });
    await measureQueues(sql, queueNames, STALE_SECONDS);
    const reading = await sql.begin(async (tx) => {
      if (!(await takeWatch(tx, process_id, WATCH_SECONDS))) return null;
      const numbers = await instanceNumbers(tx);
      return { numbers, judged: (await judge?.judge(tx, numbers)) ?? null };
    });
    metrics.publish(reading && readingsOf(reading.numbers, reading.judged ?? NO_ALARMS));
    await reading?.judged?.after();
    return reading !== null;
  };
  return {
    process_id,
    async turn() {
      try {
        const watches = await look();
        await judge?.answered();
        return watches;
      } catch (error) {
        log.error({ err: error }, 'failed to read instance metrics');
        // Another process may already be publishing the instance's gauges.
        metrics.publish(null);
        await judge?.failed(error);
        return false;
      }
    },
    stop: () => forgetProcess(sql, process_id),
  };
}

/** Takes a turn immediately and then every 15 s until stopped. */
export function startInstanceWatch(services: Services, judge: Judge | null): { stop(): Promise<void> } {
  const watch = createInstanceWatch(services, judge);
  let stopped = false;
  let timer: NodeJS.Timeout | null = null;
  let running: Promise<unknown> = Promise.resolve();
  const run = () => {
    running = watch.turn().then(() => {
      if (!stopped) timer = setTimeout(run, WATCH_MS);
    });
  };
  run();
  return {
    async stop() {
      stopped = true;
      if (timer) clearTimeout(timer);
      await running;
      await watch
        .stop()
        .catch((error: unknown) => services.log.warn({ err: error }, 'failed to release the instance watch'));
    },
  };
}
