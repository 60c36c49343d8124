import type { Sql } from '@postrider/db';
import type { Clock } from '../fields/clock.ts';
import type { AddressCounter, WindowCount } from '../operation/ports.ts';
import { addressSubject } from './rate-window.ts';
import { countAddress } from './store.ts';

/** Networks whose exhausted window a process remembers. Others are counted in the database again. */
const MAX_EXHAUSTED = 10_000;

interface Exhausted {
  readonly window_count: WindowCount;
  readonly noted_ms: number;
}

/**
 * Counts requests without a valid key by network. An exhausted window stays exhausted until it ends, so the process
 * remembers it: otherwise, every request of a flood would commit an update of the same row.
 */
export function createAddressCounter(sql: Sql, clock: Clock, max = MAX_EXHAUSTED): AddressCounter {
  const exhausted = new Map<string, Exhausted>();
  const recall = (subject: string): WindowCount | null => {
    const entry = exhausted.get(subject);
    if (!entry) return null;
    const seconds_ago = (clock.now() - entry.noted_ms) / 1000;
    const seconds_left = entry.window_count.seconds_left - seconds_ago;
    // A clock that was set back to before the entry would prolong the window.
    if (seconds_left > 0 && seconds_ago >= 0) return { ...entry.window_count, seconds_left };
    exhausted.delete(subject);
    return null;
  };
  return {
    async count(address) {
      const subject = addressSubject(address);
      const recalled = recall(subject);
      if (recalled) return recalled;
      // Before the statement, so that a delay does not prolong the window.
      const noted_ms = clock.now();
      const window_count = await countAddress(sql, subject);
      if (window_count.place > window_count.limit) {
        exhausted.delete(subject);
        const [oldest] = exhausted.keys();
        if (oldest !== undefined && exhausted.size >= max) exhausted.delete(oldest);
        exhausted.set(subject, { window_count, noted_ms });
      }
      return window_count;
    },
  };
}
