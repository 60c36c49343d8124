import { randomUUID } from 'node:crypto';
import type { Services } from '@postrider/core';
import { noteWorker } from '@postrider/core/delivery';
import { every } from '../schedules.ts';

const BEAT_MS = 5000;
const BEATS_IN_A_MINUTE = 12;
const GIVE_UP_MS = 1000;

export interface Heartbeat {
  /** Counts ended attempts. */
  ended(count: number): void;
  stop(): Promise<void>;
}

/** Publishes every few seconds that this worker is alive, and its attempts per minute. */
export function createHeartbeat({ sql, log }: Services): Heartbeat {
  const worker = randomUUID();
  const before: number[] = [];
  let now = 0;
  const beat = () => {
    before.push(now);
    now = 0;
    if (before.length > BEATS_IN_A_MINUTE) before.shift();
    const ended = before.reduce((sum, count) => sum + count, 0);
    return noteWorker(sql, {
      worker,
      stopped: false,
      ended_per_minute: Math.round((ended * BEATS_IN_A_MINUTE) / before.length),
    });
  };
  const first = noteWorker(sql, { worker, stopped: false, ended_per_minute: 0 }).catch((error) =>
    log.error({ err: error }, 'a worker could not tell that it is there'),
  );
  const beats = every(BEAT_MS, beat, { log });
  return {
    ended(count) {
      now += count;
    },
    async stop() {
      await beats.stop();
      await first;
      const noted = noteWorker(sql, { worker, stopped: true, ended_per_minute: 0 }).catch((error) =>
        log.error({ err: error }, 'a worker could not tell that it has gone'),
      );
      // An unreachable database must not block the stop: without heartbeats the worker soon counts as gone.
      const { promise: waited, resolve } = Promise.withResolvers<void>();
      const timer = setTimeout(resolve, GIVE_UP_MS);
      await Promise.race([noted, waited]);
      clearTimeout(timer);
    },
  };
}
