import type { Log } from '@postrider/core';
import { isOutage } from '@postrider/db';

const TELL_MS = 10_000;
const OVER_MS = 5000;

/**
 * Deduplicates outage logs. While the database is down, nearly everything fails for the same reason: the first failure
 * is logged, later ones are counted, and the count is logged periodically and at the end.
 */
export function countOutages(log: Log): Log {
  let began_at: number | null = null;
  let last_at = 0;
  let count = 0;
  let timer: NodeJS.Timeout | null = null;

  const facts = () => ({ count, seconds: Math.round((performance.now() - (began_at ?? 0)) / 1000) });
  const look = () => {
    if (performance.now() - last_at < OVER_MS) {
      log.warn(facts(), 'the database is still unreachable');
      return;
    }
    log.info(facts(), 'the database has recovered; no query has failed for five seconds');
    if (timer) clearInterval(timer);
    timer = null;
    began_at = null;
    count = 0;
  };
  const note = (error: unknown, words: string) => {
    last_at = performance.now();
    count += 1;
    if (began_at !== null) return;
    began_at = last_at;
    const reason = error instanceof Error ? error.message : String(error);
    log.error(
      { reason, first: words },
      'the database is unreachable; further failures are counted, not logged, until it recovers',
    );
    timer = setInterval(look, TELL_MS).unref();
  };

  return new Proxy(log, {
    get(target, name) {
      const value: unknown = Reflect.get(target, name);
      if (name !== 'error' && name !== 'warn') return value;
      return (input: unknown, words?: string) => {
        const error = typeof input === 'object' && input !== null && 'err' in input ? input.err : null;
        if (isOutage(error)) note(error, words ?? '');
        else Reflect.apply(target[name], target, words === undefined ? [input] : [input, words]);
      };
    },
  });
}
