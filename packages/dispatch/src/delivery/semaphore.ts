/** Limits concurrent work; the excess waits in order. */
export function createSemaphore(most: number): <T>(work: () => Promise<T>) => Promise<T> {
  const waiting: (() => void)[] = [];
  let running = 0;
  return async (work) => {
    if (running >= most) await new Promise<void>((resolve) => waiting.push(resolve));
    else running += 1;
    try {
      return await work();
    } finally {
      // The slot is passed on directly, so that no later work gets ahead of the waiting.
      const next = waiting.shift();
      if (next) next();
      else running -= 1;
    }
  };
}
