import { timestampField } from '../fields/timestamp-field.ts';
import { AppError } from '../operation/errors.ts';

export const rangeFields = {
  since: timestampField('since').meta({ description: 'The first bucket is the one that contains this time.' }),
  until: timestampField('until').optional().meta({ description: 'Before this time. Default: now.' }),
};

/** A range of whole buckets, in UTC. */
export interface BucketRange {
  readonly from: Date;
  readonly to: Date;
  readonly bucket_ms: number;
}

const HOUR_MS = 3_600_000;
/** A later bucket would end in a five-digit year, which Postgres cannot parse. */
const END_OF_TIME = Date.UTC(9999, 11, 31);
export const bucketMs = { minute: 60_000, hour: HOUR_MS, day: 24 * HOUR_MS } as const;

/** How many buckets one response may contain, and how long they are stored. */
export interface RangeBounds {
  readonly most: number;
  readonly kept_days: number;
}

/**
 * Returns a range of whole buckets. A UTC day always has 24 hours, so every bucket begins at a multiple of its length.
 */
export function bucketRange(
  range: { readonly since: Date; readonly until?: Date | undefined },
  bucket: keyof typeof bucketMs,
  bounds: RangeBounds,
  now: Date,
): BucketRange {
  const bucket_ms = bucketMs[bucket];
  const until = new Date(Math.min((range.until ?? now).getTime(), END_OF_TIME));
  if (range.since >= until) throw invalid('since must be before until, which is now where it is not given.');
  const from = Math.floor(range.since.getTime() / bucket_ms) * bucket_ms;
  const to = Math.ceil(until.getTime() / bucket_ms) * bucket_ms;
  if ((to - from) / bucket_ms > bounds.most) {
    throw invalid(
      `The range has more than ${bounds.most} buckets of one ${bucket}. Use a shorter range or longer buckets.`,
    );
  }
  if (range.since.getTime() < now.getTime() - bounds.kept_days * bucketMs.day - bucket_ms) {
    throw invalid(`Buckets of one ${bucket} are kept for ${bounds.kept_days} days. since must be later.`);
  }
  return { from: new Date(from), to: new Date(to), bucket_ms };
}

function invalid(message: string): AppError {
  return new AppError('invalid_range', message, {
    details: [{ param: 'since', reason: 'invalid_range', message }],
  });
}
