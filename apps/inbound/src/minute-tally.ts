const MINUTE_MS = 60_000;

/** Reports the first of something immediately, and a minute later how many more there were. */
export interface MinuteTally {
  note(): void;
  /** Reports what was counted since. */
  stop(): void;
}

export function createMinuteTally(report: (count: number) => void): MinuteTally {
  let timer: NodeJS.Timeout | null = null;
  let count = 0;
  const flush = () => {
    timer = null;
    if (count === 0) return;
    report(count);
    count = 0;
    timer = setTimeout(flush, MINUTE_MS).unref();
  };
  return {
    note() {
      count += 1;
      if (timer === null) flush();
    },
    stop() {
      if (timer) clearTimeout(timer);
      if (count > 0) report(count);
      count = 0;
    },
  };
}
