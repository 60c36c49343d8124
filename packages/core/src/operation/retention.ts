import { type IdKind, idFloor, idTime } from '../fields/ids.ts';
import type { IdRange } from '../paging/candidate-pages.ts';
import type { Services } from './context.ts';

/** Kinds of data with a retention period of their own. */
export const retentionKinds = ['messages', 'bodies', 'events', 'transcripts', 'captures', 'requests'] as const;
export type RetentionKind = (typeof retentionKinds)[number];

/** Ids contain the time of the process that created them, so the process clock decides which ids have expired. */
export type Ages = Pick<Services, 'config' | 'clock'>;

/**
 * Returns the retention period of a kind in seconds; null if unlimited. The period of a message's data never exceeds
 * that of the message itself.
 */
export function keptSeconds({ config }: Pick<Ages, 'config'>, kind: RetentionKind): number | null {
  const ages: Record<RetentionKind, readonly (number | undefined)[]> = {
    messages: [config.RETENTION_MESSAGES],
    bodies: [config.RETENTION_BODIES, config.RETENTION_MESSAGES],
    events: [config.RETENTION_EVENTS, config.RETENTION_MESSAGES],
    transcripts: [config.RETENTION_TRANSCRIPTS, config.RETENTION_EVENTS, config.RETENTION_MESSAGES],
    captures: [config.RETENTION_CAPTURES],
    requests: [config.RETENTION_REQUESTS],
  };
  const set = ages[kind].filter((seconds) => seconds !== undefined);
  return set.length === 0 ? null : Math.min(...set);
}

/** Returns the time before which data of a kind counts as deleted; 0 if it is kept indefinitely. */
export function goneBefore(services: Ages, kind: RetentionKind): number {
  const seconds = keptSeconds(services, kind);
  return seconds === null ? 0 : services.clock.now() - seconds * 1000;
}

export function isKept(services: Ages, kind: RetentionKind, id: string): boolean {
  return idTime(id) >= goneBefore(services, kind);
}

/** Returns the smallest id that is retained. */
export function oldestKept(services: Ages, kind: RetentionKind, id_kind: IdKind): string {
  const before = goneBefore(services, kind);
  return before === 0 ? '' : idFloor(id_kind, before);
}

/** Returns the part of a range that is retained. */
export function retainedRange(services: Ages, kind: RetentionKind, id_kind: IdKind, range: IdRange): IdRange {
  const from = oldestKept(services, kind, id_kind);
  return from > range.from ? { ...range, from } : range;
}
