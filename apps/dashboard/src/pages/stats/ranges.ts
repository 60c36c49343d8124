import { exactTime } from '../../parts/times.tsx';

export const ranges = {
  hour: { bucket: 'minute', length_ms: 3_600_000 },
  day: { bucket: 'hour', length_ms: 86_400_000 },
  yesterday: { bucket: 'hour', length_ms: 86_400_000 },
  week: { bucket: 'hour', length_ms: 7 * 86_400_000 },
  month: { bucket: 'day', length_ms: 30 * 86_400_000 },
} as const;
export type Range = keyof typeof ranges;
export const rangeNames: readonly Range[] = ['hour', 'day', 'yesterday', 'week', 'month'];

export const dimensions = ['domain', 'tag', 'destination', 'provider', 'api_key', 'transport'] as const;
export type Dimension = (typeof dimensions)[number];

export const bucketMs = { minute: 60_000, hour: 3_600_000, day: 86_400_000 } as const;
export type Bucket = keyof typeof bucketMs;

export interface Span {
  readonly since: string;
  /** Missing if the range ends now. */
  readonly until?: string;
}

/** Returns the times of a range, in whole buckets, so that they change only once per bucket. */
export function spanOf(range: Range, now_ms: number, utc: boolean): Span {
  const { bucket, length_ms } = ranges[range];
  if (range === 'yesterday') {
    const today = new Date(now_ms);
    if (utc) today.setUTCHours(0, 0, 0, 0);
    else today.setHours(0, 0, 0, 0);
    const start = new Date(today);
    if (utc) start.setUTCDate(start.getUTCDate() - 1);
    else start.setDate(start.getDate() - 1);
    return { since: start.toISOString(), until: today.toISOString() };
  }
  const step = bucketMs[bucket];
  return { since: new Date(Math.floor(now_ms / step) * step + step - length_ms).toISOString() };
}

/** Returns the label of a point. Days are UTC days. */
export function bucketTime(iso: string, bucket: Bucket, utc: boolean): string {
  return bucket === 'day' ? iso.slice(0, 10) : exactTime(iso, utc).slice(5, 16);
}

/** Returns the label of a point on the axis: the time of day within one day, the day otherwise. */
export function axisTime(iso: string, bucket: Bucket, utc: boolean, is_day: boolean): string {
  if (bucket === 'day') return iso.slice(5, 10);
  const time = exactTime(iso, utc);
  return is_day ? time.slice(11, 16) : time.slice(5, 10);
}

/** Returns whether points span at most a day. */
export function isWithinDay(first: string | undefined, last: string | undefined): boolean {
  return first !== undefined && last !== undefined && Date.parse(last) - Date.parse(first) <= bucketMs.day;
}

/**
 * Returns what to subtract from a metric. Captured emails count as delivered in the API; on the page, each email has one
 * outcome.
 */
export function subtracted(metric: string): string | null {
  return metric === 'delivered' ? 'captured' : null;
}

/** Formats a share of a total, never more than all of it. */
export function shareOf(part: number, total: number): string {
  return `${((100 * Math.min(part, total)) / total).toFixed(1)}%`;
}

/** Returns the Emails search for the email that a point counts. */
export function emailSearch(iso: string, bucket: Bucket): string {
  const end = new Date(Date.parse(iso) + bucketMs[bucket]);
  return `after:${iso} before:${end.toISOString()}`;
}
