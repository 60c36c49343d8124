import { randomUUID } from 'node:crypto';
import type { Services } from '@postrider/core';
import { noteWorker } from '@postrider/core/delivery';
import { every } from './schedules.ts';

const NOTE_MS = 5000;
const NOTES_IN_A_MINUTE = 12;
const GIVE_UP_MS = 1000;

export interface WorkerNote {
  /** So many attempts have ended. */
  ended(count: number): void;
  stop(): Promise<void>;
}

/** Tells all others every few seconds that this worker is there, and how many attempts it ends in a minute. */
export function createWorkerNote({ sql, log }: Services): WorkerNote {
  const worker = randomUUID();
  const before: number[] = [];
  let now = 0;
  const note = () => {
    before.push(now);
    now = 0;
    if (before.length > NOTES_IN_A_MINUTE) before.shift();
    const ended = before.reduce((sum, count) => sum + count, 0);
    return noteWorker(sql, {
      worker,
      stopped: false,
      ended_per_minute: Math.round((ended * NOTES_IN_A_MINUTE) / before.length),
    });
  };
  const first = noteWorker(sql, { worker, stopped: false, ended_per_minute: 0 }).catch((error) =>
    log.error({ err: error }, 'a worker could not tell that it is there'),
  );
  const notes = every(NOTE_MS, note, { log });
  return {
    ended(count) {
      now += count;
    },
    async stop() {
      await notes.stop();
      await first;
      const noted = noteWorker(sql, { worker, stopped: true, ended_per_minute: 0 }).catch((error) =>
        log.error({ err: error }, 'a worker could not tell that it has gone'),
      );
      // A database that does not answer holds up no stop: who says nothing counts as gone soon.
      const { promise: waited, resolve } = Promise.withResolvers<void>();
      const timer = setTimeout(resolve, GIVE_UP_MS);
      await Promise.race([noted, waited]);
      clearTimeout(timer);
    },
  };
}
