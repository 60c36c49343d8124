import type { Sql } from '@postrider/db';
import { addBins, type Histogram, percentileOf } from './mail-times.ts';
import { bounds, type CountMetric, countMetrics } from './stat-series.ts';
import { bucketsOf, readRollUpState } from './store.ts';
import { bucketMs, bucketRange } from './time-range.ts';

export interface Totals {
  readonly from: Date;
  readonly to: Date;
  /** Anything later is not counted yet. */
  readonly complete_until: Date;
  readonly counts: Readonly<Record<CountMetric, number>>;
  readonly accept_to_delivered_p95: number | null;
}

const UP_TO_DAYS = { minute: 1, hour: 59 };

/**
 * Returns the results of a workspace's messages in a range, using the finest buckets that stay within the
 * limit for one response.
 */
export async function totalsOf(
  sql: Sql,
  workspace_id: string,
  range: { readonly since: Date; readonly until?: Date | undefined },
): Promise<Totals> {
  const { now, until: complete_until } = await readRollUpState(sql, 'stats');
  const days = ((range.until ?? now).getTime() - range.since.getTime()) / bucketMs.day;
  const bucket = days < UP_TO_DAYS.minute ? 'minute' : days < UP_TO_DAYS.hour ? 'hour' : 'day';
  const { from, to } = bucketRange(range, bucket, bounds.alone[bucket], now);
  const rows = await bucketsOf(sql, { workspace_id, dimension: 'none', bucket, from, to, histograms: true });
  const times: Histogram = new Map();
  for (const row of rows) addBins(times, row.delivery);
  const total = (metric: CountMetric) => rows.reduce((sum, row) => sum + row[metric], 0);
  return {
    from,
    to,
    complete_until,
    // The cast is safe because the keys are the metrics.
    counts: Object.fromEntries(countMetrics.map((metric) => [metric, total(metric)])) as Record<CountMetric, number>,
    accept_to_delivered_p95: percentileOf(times, 95),
  };
}
