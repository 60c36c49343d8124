/** Lets at most so many pieces of work run at once; the others wait in order. */
export function createTurns(most: number): <T>(work: () => Promise<T>) => Promise<T> {
  const waiting: (() => void)[] = [];
  let running = 0;
  return async (work) => {
    if (running >= most) await new Promise<void>((resolve) => waiting.push(resolve));
    else running += 1;
    try {
      return await work();
    } finally {
      // The place is handed on, so nobody who comes meanwhile can slip in between.
      const next = waiting.shift();
      if (next) next();
      else running -= 1;
    }
  };
}
