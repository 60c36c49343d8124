const MINUTE_MS = 60_000;

/** Reports the first occurrence immediately, and the number of further occurrences a minute later. */
export interface MinuteTally {
  note(): void;
  /** Reports the occurrences counted since the last report. */
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
