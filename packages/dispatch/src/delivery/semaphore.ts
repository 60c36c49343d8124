/** Limits concurrent work; the excess waits in order. Resolves with null if the signal aborts before its turn. */
export type Semaphore = <T>(signal: AbortSignal, work: () => Promise<T>) => Promise<T | null>;

export function createSemaphore(most: number): Semaphore {
  const waiting: (() => void)[] = [];
  let running = 0;

  const turn = (signal: AbortSignal): Promise<boolean> =>
    new Promise((resolve) => {
      const onAbort = () => {
        waiting.splice(waiting.indexOf(onTurn), 1);
        resolve(false);
      };
      const onTurn = () => {
        signal.removeEventListener('abort', onAbort);
        resolve(true);
      };
      waiting.push(onTurn);
      signal.addEventListener('abort', onAbort, { once: true });
    });

  return async (signal, work) => {
    if (signal.aborted) return null;
    if (running < most) running += 1;
    else if (!(await turn(signal))) return null;
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
