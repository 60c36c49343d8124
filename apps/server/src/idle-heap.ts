import { PerformanceObserver, performance } from 'node:perf_hooks';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

const LOOK_EVERY_MS = 10_000;
/** From this share of the time on, the event loop counts as busy. */
const BUSY = 0.2;
/** Below this share, and with no garbage to speak of, nobody is there who would notice a pause. */
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
  let collections = 0;
  // A process that does nothing but poll has none for a minute; one of a few mails a second has one in some seconds.
  const observer = new PerformanceObserver((list) => {
    collections += list.getEntries().length;
  });
  observer.observe({ entryTypes: ['gc'] });
  const look = () => {
    const now = performance.eventLoopUtilization();
    const { utilization } = performance.eventLoopUtilization(now, since);
    if (isTime({ utilization, collections }, performance.now())) collect();
    since = now;
    collections = 0;
  };
  setInterval(look, LOOK_EVERY_MS).unref();
}

/** How busy the event loop was since the last look, and how often V8 collected by itself. */
interface Look {
  readonly utilization: number;
  readonly collections: number;
}

/** Tells at each look whether to collect. */
export function createRestWatch(): (look: Look, now_ms: number) => boolean {
  let was_busy = true;
  let collected_at = Number.NEGATIVE_INFINITY;
  return ({ utilization, collections }, now_ms) => {
    if (utilization > BUSY) was_busy = true;
    if (utilization >= AT_REST || collections > 0 || !was_busy || now_ms - collected_at <= RARELY_MS) return false;
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
