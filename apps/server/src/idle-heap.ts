import { performance } from 'node:perf_hooks';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

const LOOK_EVERY_MS = 10_000;
/** From this share of the time on, the event loop counts as busy. */
const BUSY = 0.2;
/** Below this share nobody is there who would notice a pause: fifty mails a second are several times as much. */
const AT_REST = 0.03;
const RARELY_MS = 5 * 60_000;

/**
 * V8 keeps the room that a start or a rush took until it collects everything again, which a process at rest does not
 * do for hours: 70 MB after a start. So the first quiet stretch after a busy one ends with a collection, which stops the
 * event loop for about a tenth of a second. One that comes and goes pays for it every five minutes at most.
 */
export function keepHeapSmallAtRest(): void {
  const collect = fullCollection();
  const isTime = createRestWatch();
  let since = performance.eventLoopUtilization();
  const look = () => {
    const now = performance.eventLoopUtilization();
    const { utilization } = performance.eventLoopUtilization(now, since);
    since = now;
    if (isTime(utilization, performance.now())) collect();
  };
  setInterval(look, LOOK_EVERY_MS).unref();
}

/** Tells of each look, by how busy the event loop was since the last one, whether to collect. */
export function createRestWatch(): (utilization: number, now_ms: number) => boolean {
  let was_busy = true;
  let collected_at = Number.NEGATIVE_INFINITY;
  return (utilization, now_ms) => {
    if (utilization > BUSY) was_busy = true;
    if (utilization >= AT_REST || !was_busy || now_ms - collected_at <= RARELY_MS) return false;
    was_busy = false;
    collected_at = now_ms;
    return true;
  };
}

/** Node shows gc only where a flag asks for it. The flag is put back at once, as compiled code is kept by flags. */
export function fullCollection(): () => unknown {
  setFlagsFromString('--expose-gc');
  const gc: unknown = runInNewContext('gc');
  setFlagsFromString('--no-expose-gc');
  if (typeof gc !== 'function') throw new Error('this Node does not let its garbage be collected');
  return () => gc();
}
