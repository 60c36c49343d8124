/** The time limit of the step that a session waits for. */
export interface Deadline {
  set(allowed_ms: number): void;
  clear(): void;
  /** Clears the time limit and stops the timer. */
  stop(): void;
}

/**
 * Creates a deadline with one timer for the many waits of a session. The timer is not reset for each wait: if it fires
 * early, it is set for the remaining time, and only a limit before its next firing restarts it.
 */
export function createDeadline(ring: () => void): Deadline {
  let timer: NodeJS.Timeout | undefined;
  let rings_at = Number.POSITIVE_INFINITY;
  let due_at = Number.POSITIVE_INFINITY;

  function start(delay_ms: number): void {
    clearTimeout(timer);
    rings_at = performance.now() + delay_ms;
    timer = setTimeout(onTimer, delay_ms);
    timer.unref();
  }

  function onTimer(): void {
    rings_at = Number.POSITIVE_INFINITY;
    if (due_at === Number.POSITIVE_INFINITY) return;
    const left_ms = due_at - performance.now();
    if (left_ms > 0) {
      start(Math.ceil(left_ms));
      return;
    }
    due_at = Number.POSITIVE_INFINITY;
    ring();
  }

  return {
    set(allowed_ms) {
      due_at = performance.now() + allowed_ms;
      if (due_at < rings_at) start(allowed_ms);
    },
    clear() {
      due_at = Number.POSITIVE_INFINITY;
    },
    stop() {
      due_at = Number.POSITIVE_INFINITY;
      clearTimeout(timer);
    },
  };
}
