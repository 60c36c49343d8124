import type { Services } from '@postrider/core';
import { freeLeftovers, freeWorker, noteWorker } from '@postrider/core/delivery';
import { repeatEvery } from '../repeat-task.ts';

const MINUTE_MS = 60_000;
const GIVE_UP_MS = 1000;
// A database restart closes all connections, so a worker that lost its own does not judge others until all have had
// time to reconnect.
const UNSURE_MS = 10_000;
const SLOW_MS = 1000;
const BEATS_PER_SWEEP = 3;
// How much earlier a worker stops than others may consider it dead.
const MARGIN_MS = 1000;

export interface Heartbeat {
  /** Resolves after the first heartbeat. */
  readonly first: Promise<void>;
  /**
   * Returns whether other workers still consider this one alive. If not, this worker does not start sending content,
   * because it cannot know what the others are doing.
   */
  isSure(): boolean;
  /** Counts ended attempts. */
  ended(count: number): void;
  stop(): Promise<void>;
}

/**
 * Records several times a second that this worker is alive, along with its attempts per minute. Frees the jobs of a
 * worker that two heartbeats in a row find dead, and later anything that a last statement of that worker left behind.
 */
export function createHeartbeat(services: Services): Heartbeat {
  const { direct, jobs, log, config } = services;
  const { worker_beat: beat_ms, worker_silence: silence_ms } = config.LIMITS;
  const worker = jobs.holder;
  const ended_per_beat: number[] = [];
  let ended_since_beat = 0;
  let suspects: readonly string[] = [];
  let unsure_until = Number.NEGATIVE_INFINITY;
  let beaten_at = performance.now();
  let beats_to_sweep = BEATS_PER_SWEEP;

  let sure_until = performance.now() + silence_ms - MARGIN_MS;

  const note = async (stopped: boolean, ended_per_minute: number) => {
    // Measured from before the statement, because the time of its commit is unknown.
    const started_at = performance.now();
    // Its connection closes with this process.
    const silent = await noteWorker(direct, { worker, stopped, ended_per_minute }, silence_ms);
    sure_until = started_at + silence_ms - MARGIN_MS;
    return silent;
  };

  const beat = async () => {
    ended_per_beat.push(ended_since_beat);
    ended_since_beat = 0;
    if (ended_per_beat.length > MINUTE_MS / beat_ms) ended_per_beat.shift();
    const total = ended_per_beat.reduce((sum, count) => sum + count, 0);
    let silent: string[];
    try {
      silent = await note(false, Math.round((total * MINUTE_MS) / (ended_per_beat.length * beat_ms)));
    } catch (error) {
      unsure_until = performance.now() + UNSURE_MS;
      throw error;
    }
    const is_late = performance.now() - beaten_at > SLOW_MS + beat_ms;
    beaten_at = performance.now();
    if (is_late) unsure_until = Math.max(unsure_until, performance.now() + silence_ms);
    const dead = performance.now() < unsure_until ? [] : silent.filter((one) => suspects.includes(one));
    suspects = silent;
    for (const one of dead) await freeDeadWorker(one);
    beats_to_sweep -= 1;
    if (beats_to_sweep > 0 || performance.now() < unsure_until) return;
    beats_to_sweep = BEATS_PER_SWEEP;
    await sweep();
  };

  const sweep = async () => {
    const count = await freeLeftovers(services);
    if (count === 0) return;
    log.warn({ count }, 'requeued email that a stopped worker still held');
    jobs.wakeAll('delivery.attempt');
  };

  const freeDeadWorker = async (dead: string) => {
    const count = await freeWorker(services, dead, silence_ms);
    if (count === null) return;
    log.warn({ worker: dead, count }, 'a worker died; requeued its email');
    jobs.wakeAll('delivery.attempt');
    jobs.wakeAll('webhook.deliver');
  };

  const first = note(false, 0).then(
    () => undefined,
    (error) => log.error({ err: error }, 'failed to write a worker heartbeat'),
  );
  const beats = repeatEvery(beat_ms, beat, { log });
  return {
    first,
    isSure: () => performance.now() < sure_until,
    ended(count) {
      ended_since_beat += count;
    },
    async stop() {
      await beats.stop();
      await first;
      const noted = note(true, 0).catch((error) => log.error({ err: error }, 'failed to deregister a worker'));
      // An unreachable database must not block the stop. Without heartbeats, the worker is soon considered dead.
      const { promise: waited, resolve } = Promise.withResolvers<void>();
      const timer = setTimeout(resolve, GIVE_UP_MS);
      await Promise.race([noted, waited]);
      clearTimeout(timer);
    },
  };
}
