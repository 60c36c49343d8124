import type { Logger } from 'pino';

// For each message text, the first lines of a second are written, then one in a thousand. Writing a line takes a fifth
// of the time that accepting an email takes.
const MAX_PER_SECOND = 20;
const ONE_IN = 1000;
const SECOND_MS = 1000;

/**
 * Logs lines about individual messages: every line while there are few; under load, a sample with the number of lines
 * omitted.
 */
export interface SampledLog {
  /** Called only if the line is written. */
  info(message: string, fields: () => Readonly<Record<string, unknown>>): void;
}

export function createSampledLog(log: Logger, now: () => number = () => performance.now()): SampledLog {
  const kinds = new Map<string, { second: number; seen: number; skipped: number }>();
  return {
    info(message, fields) {
      const second = Math.floor(now() / SECOND_MS);
      const kind = kinds.get(message) ?? { second, seen: 0, skipped: 0 };
      kinds.set(message, kind);
      if (kind.second !== second) {
        kind.second = second;
        kind.seen = 0;
      }
      kind.seen += 1;
      if (kind.seen > MAX_PER_SECOND && kind.seen % ONE_IN !== 0) {
        kind.skipped += 1;
        return;
      }
      log.info({ ...fields(), ...(kind.skipped > 0 && { skipped: kind.skipped }) }, message);
      kind.skipped = 0;
    },
  };
}
