const DEADLINE_MS = 30_000;

export interface Arrivals<T> {
  readonly items: T[];
  add(item: T): void;
  /** Waits for a number of items, or for an item that matches a predicate. Earlier items count. */
  waitFor(target: number): Promise<T[]>;
  waitFor(target: (item: T) => boolean): Promise<T>;
}

/**
 * Collects the items that a sink has received, with event-driven waits for more. The error of a wait that times out
 * lists the items.
 */
export function createArrivals<T>(label: string, describe: (item: T) => string): Arrivals<T> {
  const items: T[] = [];
  const waiters = new Set<() => void>();

  function wait<R>(wish: string, look: () => R | undefined): Promise<R> {
    const { promise, resolve, reject } = Promise.withResolvers<R>();
    const check = () => {
      const value = look();
      if (value === undefined) return;
      clearTimeout(deadline);
      waiters.delete(check);
      resolve(value);
    };
    const deadline = setTimeout(() => {
      waiters.delete(check);
      const list = items.map((item) => `\n  ${describe(item)}`).join('');
      reject(new Error(`waited ${DEADLINE_MS / 1000} s for ${wish}; ${items.length} ${label} arrived${list}`));
    }, DEADLINE_MS);
    waiters.add(check);
    check();
    return promise;
  }

  function waitFor(target: number): Promise<T[]>;
  function waitFor(target: (item: T) => boolean): Promise<T>;
  function waitFor(target: number | ((item: T) => boolean)): Promise<T[] | T> {
    if (typeof target === 'function') return wait(`one of the ${label} to fit`, () => items.find(target));
    return wait(`${target} ${label}`, () => (items.length >= target ? [...items] : undefined));
  }

  return {
    items,
    add(item) {
      items.push(item);
      for (const check of [...waiters]) check();
    },
    waitFor,
  };
}
