import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import type { Tx } from '@postrider/db';
import type { Services } from '../operation/context.ts';
import { measureQueues, queueNames } from '../queues/index.ts';
import { type AlarmNumbers, NO_ALARMS, readingsOf } from './read-instance.ts';
import { type InstanceNumbers, instanceNumbers } from './store.ts';
import { forgetProcess, noteProcess, takeWatch } from './watch-store.ts';

export const WATCH_MS = 15_000;
// The watch of a process that died passes to another after this.
const WATCH_SECONDS = 40;
// Workers measure the queues every ten seconds. Measures are older than this only if no worker is left to do it, which
// has to be noticed in time to report it within a minute.
const STALE_SECONDS = 15;

/** What judges the numbers of the instance, in the transaction of the process that watches it. */
export interface Judge {
  /** Returns how many alarms are active and how many notices wait, and what to do once that is committed. */
  judge(tx: Tx, numbers: InstanceNumbers): Promise<AlarmNumbers & { after(): Promise<void> }>;
  /** The database answered this process, whether or not it watches. */
  answered(): Promise<void>;
  /** The numbers could not be read. */
  failed(error: unknown): Promise<void>;
}

export interface InstanceWatch {
  readonly process_id: string;
  /** One turn: notes this process, and where it watches, reads and judges. Returns whether it watches. */
  turn(): Promise<boolean>;
  stop(): Promise<void>;
}

/**
 * Every process notes that it lives; one of them at a time reads the numbers of the instance, publishes them with its
 * metrics and has them judged.
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
        // Another process may publish them by now.
        metrics.publish(null);
        await judge?.failed(error);
        return false;
      }
    },
    stop: () => forgetProcess(sql, process_id),
  };
}

/** Takes a turn now and every 15 s until it is stopped. */
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
