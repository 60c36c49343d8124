import { setTimeout as pause } from 'node:timers/promises';

/** Yields what a read answers, first at once and then whenever it answers otherwise; null as a keep-alive. */
export async function* followChanges<T>(
  read: () => Promise<T>,
  poll_ms: number,
  /** What of an answer counts as a change; the whole, if absent. */
  keyOf: (value: T) => string = JSON.stringify,
): AsyncGenerator<T | null> {
  let last = '';
  for (;;) {
    const value = await read();
    const key = keyOf(value);
    yield key === last ? null : value;
    last = key;
    await pause(poll_ms);
  }
}
