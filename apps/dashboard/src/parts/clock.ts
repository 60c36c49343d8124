import { useSyncExternalStore } from 'react';
import { nowMs } from '../api/clock.ts';

let ticked = nowMs();
const listeners = new Set<() => void>();
let timer: ReturnType<typeof setInterval> | undefined;

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  // While nothing was subscribed, the last tick became stale.
  if (timer === undefined) ticked = nowMs();
  timer ??= setInterval(() => {
    ticked = nowMs();
    for (const notify of listeners) notify();
  }, 1000);
  return () => {
    listeners.delete(listener);
    if (listeners.size > 0) return;
    clearInterval(timer);
    timer = undefined;
  };
}

/** Returns the time rounded down to a step so that a page renders no more often than needed. */
export function useNow(step_ms = 1000): number {
  return useSyncExternalStore(subscribe, () => Math.floor((listeners.size > 0 ? ticked : nowMs()) / step_ms) * step_ms);
}
