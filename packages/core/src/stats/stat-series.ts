import type { Sql } from '@postrider/db';
import { z } from 'zod';
import { isoTime } from '../fields/clock.ts';
import { objectName, timeField } from '../fields/wire.ts';
import { accessField, accessibleSide } from '../operation/access.ts';
import { AppError } from '../operation/errors.ts';
import { operation } from '../operation/operation.ts';
import { addBins, type Histogram, percentileOf } from './mail-times.ts';
import { RETENTION } from './roll-up.ts';
import { bucketsOf, readRollUpState, type StatRow } from './store.ts';
import { type BucketRange, bucketMs, bucketRange, type RangeBounds, rangeFields } from './time-range.ts';

export const countMetrics = [
  'accepted',
  'delivered',
  'captured',
  'relayed',
  'bounced',
  'deferred',
  'failed',
  'complained',
  'suppressed',
  'canceled',
] as const;
export type CountMetric = (typeof countMetrics)[number];

const percentileMetrics = {
  accept_to_first_attempt_p50: ['first_attempt', 50],
  accept_to_first_attempt_p95: ['first_attempt', 95],
  accept_to_first_attempt_p99: ['first_attempt', 99],
  accept_to_delivered_p50: ['delivery', 50],
  accept_to_delivered_p95: ['delivery', 95],
  accept_to_delivered_p99: ['delivery', 99],
} as const;
type PercentileMetric = keyof typeof percentileMetrics;

// The cast is safe because the keys of the table are its metrics.
const percentileNames = Object.keys(percentileMetrics) as PercentileMetric[];
export const metrics = [...countMetrics, ...percentileNames] as const;
export type Metric = CountMetric | PercentileMetric;

export const buckets = ['minute', 'hour', 'day'] as const;
export const statDimensions = ['none', 'domain', 'tag', 'provider', 'destination', 'api_key', 'transport'] as const;

const MAX_SERIES = 30;
export const DEFAULT_SERIES = 10;
/** The maximum points per response, over all its series: 1.5 MB, computed in 0.1 s. */
const MAX_POINTS = 30_000;
export const bounds: Record<'alone' | 'grouped', Record<(typeof buckets)[number], RangeBounds>> = {
  alone: {
    minute: { most: 1440, kept_days: RETENTION.minute_days },
    hour: { most: 1440, kept_days: RETENTION.hour_days },
    day: { most: RETENTION.hour_days + 2, kept_days: RETENTION.hour_days },
  },
  grouped: {
    minute: { most: 360, kept_days: RETENTION.grouped_minute_hours / 24 },
    hour: { most: 24 * 14 + 1, kept_days: RETENTION.hour_days },
    day: { most: 93, kept_days: RETENTION.hour_days },
  },
};

export const pointSchema = z.object({
  at: timeField.meta({ description: 'When the interval starts.' }),
  value: z
    .number()
    .nullable()
    .meta({ description: 'A count, or seconds for a percentile; null if the percentile has no data.' }),
});
const seriesSchema = z.object({
  metric: z.enum(metrics).meta({ description: 'Counted per recipient. Percentiles are in seconds.' }),
  key: z
    .string()
    .nullable()
    .meta({ description: "The dimension's value; null for everything without its own series." }),
  points: z.array(pointSchema).readonly().meta({ description: 'One point per interval, oldest first.' }),
});
export const statsSchema = z.object({
  object: objectName('stats'),
  bucket: z.enum(buckets).meta({ description: 'Interval of each point.' }),
  group_by: z.enum(statDimensions).meta({ description: 'The dimension of the series. none: not grouped.' }),
  since: timeField.meta({ description: 'Start of the first interval.' }),
  until: timeField.meta({ description: 'End of the last interval.' }),
  complete_until: timeField.meta({ description: 'Data after this time is not complete yet.' }),
  series: z.array(seriesSchema).readonly().meta({ description: 'One series per metric and group.' }),
});
export type Stats = z.output<typeof statsSchema>;
type Series = z.output<typeof seriesSchema>;

/**
 * Returns series of message results over time, counted by recipient; durations are in seconds, measured from acceptance
 * or the scheduled time.
 */
export const statSeries = operation({
  name: 'stats.series',
  scope: null,
  summary: 'Email outcomes over time, in the workspace or (operators only) the instance',
  input: z.object({
    ...rangeFields,
    bucket: z.enum(buckets),
    metrics: z.array(z.enum(metrics)).min(1).max(metrics.length),
    group_by: z.enum(statDimensions).default('none').meta({
      description:
        'domain is the sending domain; destination is the recipient domain. The key of a transport is its ID, or default.',
    }),
    top: z
      .int()
      .min(1)
      .max(MAX_SERIES)
      .default(DEFAULT_SERIES)
      .meta({ description: 'Number of groups that get their own series.' }),
    reach: accessField,
  }),
  output: statsSchema,
  async run(ctx, { bucket, group_by, top, reach, ...input }): Promise<Stats> {
    return statsOf(ctx.sql, accessibleSide(ctx, reach), { bucket, group_by, top, ...input });
  },
});

interface SeriesInput {
  readonly since: Date;
  readonly until?: Date | undefined;
  readonly bucket: (typeof buckets)[number];
  readonly metrics: readonly Metric[];
  readonly group_by: (typeof statDimensions)[number];
  readonly top: number;
}

/** Returns the series of a workspace or, with an empty id, of the instance. */
export async function statsOf(
  sql: Sql,
  workspace_id: string,
  { bucket, group_by, top, ...input }: SeriesInput,
): Promise<Stats> {
  const { now, until } = await readRollUpState(sql, 'stats');
  const range = bucketRange(input, bucket, bounds[group_by === 'none' ? 'alone' : 'grouped'][bucket], now);
  const metric_list = [...new Set(input.metrics)];
  const points =
    metric_list.length * mostKeys(group_by, top) * ((range.to.getTime() - range.from.getTime()) / range.bucket_ms);
  if (points > MAX_POINTS) throw tooManyPoints(points);
  const histograms = metric_list.some(isDuration);
  const rows = await bucketsOf(sql, {
    workspace_id,
    dimension: group_by,
    bucket,
    from: range.from,
    to: range.to,
    histograms,
  });
  const keys = group_by === 'none' ? [null] : busiest(rows, metric_list, top);
  const rowsOf = Map.groupBy(rows, (row) => (keys.includes(row.key) ? row.key : null));
  const key_list = rowsOf.has(null) && !keys.includes(null) ? [...keys, null] : keys;
  const parts = key_list.map((key) => ({ key, at: Map.groupBy(rowsOf.get(key) ?? [], (row) => row.at.getTime()) }));
  const times = timesOf(range);
  return {
    object: 'stats',
    bucket,
    group_by,
    since: isoTime(range.from),
    until: isoTime(range.to),
    complete_until: isoTime(until),
    series: metric_list.flatMap((metric) => parts.map(({ key, at }) => seriesOf(metric, key, at, times))),
  };
}

/**
 * Returns an upper bound on the points of a response, known before the query; an unparsable time counts as the longest
 * range.
 */
export function mostStatPoints(query: {
  readonly since_ms: number;
  readonly until_ms: number;
  readonly bucket: (typeof buckets)[number];
  readonly metrics: readonly Metric[];
  readonly group_by: (typeof statDimensions)[number];
  readonly top: number | null;
}): number {
  const { most: max } = bounds[query.group_by === 'none' ? 'alone' : 'grouped'][query.bucket];
  const length = Math.ceil((query.until_ms - query.since_ms) / bucketMs[query.bucket]) + 1;
  const per_series = length >= 1 && length < max ? length : max;
  const points = new Set(query.metrics).size * mostKeys(query.group_by, query.top ?? DEFAULT_SERIES) * per_series;
  return Math.min(points, MAX_POINTS);
}

/** Counts one series per key, plus one for all others. */
function mostKeys(group_by: (typeof statDimensions)[number], top: number): number {
  return group_by === 'none' ? 1 : Math.max(top, 0) + 1;
}

function tooManyPoints(points: number): AppError {
  return new AppError(
    'query_too_complex',
    `The response would have up to ${points} points; the maximum is ${MAX_POINTS}. Use fewer metrics, a smaller top, a shorter range or longer buckets.`,
  );
}

/** Returns whether a metric is a percentile of durations, in seconds, rather than a count. */
export function isDuration(metric: Metric): metric is PercentileMetric {
  return metric in percentileMetrics;
}

/** Returns the busiest keys by the requested counts, or by all counts if only durations are requested. */
function busiest(rows: readonly StatRow[], metric_list: readonly Metric[], top: number): (string | null)[] {
  const count_metrics = metric_list.filter((metric): metric is CountMetric => !isDuration(metric));
  const count_list = count_metrics.length > 0 ? count_metrics : [...countMetrics];
  const totals = new Map<string, number>();
  for (const row of rows) {
    if (row.key === '') continue;
    const counts = count_list.map((metric) => row[metric]);
    totals.set(
      row.key,
      counts.reduce((sum, count) => sum + count, totals.get(row.key) ?? 0),
    );
  }
  return [...totals]
    .sort(([left, of_left], [right, of_right]) => of_right - of_left || (left < right ? -1 : 1))
    .slice(0, top)
    .map(([key]) => key);
}

interface BucketTime {
  readonly ms: number;
  readonly text: string;
}

/** Returns the start of each bucket, formatted once for all series. */
function timesOf({ from, to, bucket_ms }: BucketRange): BucketTime[] {
  const times: BucketTime[] = [];
  for (let ms = from.getTime(); ms < to.getTime(); ms += bucket_ms) times.push({ ms, text: isoTime(ms) });
  return times;
}

function seriesOf(
  metric: Metric,
  key: string | null,
  at: ReadonlyMap<number, readonly StatRow[]>,
  times: readonly BucketTime[],
): Series {
  const points = times.map(({ ms, text }) => ({ at: text, value: bucketValue(metric, at.get(ms) ?? []) }));
  return { metric, key, points };
}

function bucketValue(metric: Metric, rows: readonly StatRow[]): number | null {
  if (!isDuration(metric)) return rows.reduce((sum, row) => sum + row[metric], 0);
  const [duration, percent] = percentileMetrics[metric];
  const histogram: Histogram = new Map();
  for (const row of rows) addBins(histogram, row[duration]);
  return percentileOf(histogram, percent);
}
