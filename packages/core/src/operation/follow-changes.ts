import { setTimeout as pause } from 'node:timers/promises';

/** Yields the result of a read, first immediately and then whenever the result changes; yields null as a keep-alive. */
export async function* followChanges<T>(
  read: () => Promise<T>,
  poll_ms: number,
  /** Returns the part of a result that is compared; by default the whole result. */
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
