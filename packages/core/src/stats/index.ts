export { catchUp } from './catch-up.ts';
export { getStats } from './get-stats.ts';
export { BINS_PER_DOUBLING } from './mail-times.ts';
export { rollUpStats, trimStats } from './roll-up.ts';
export {
  buckets,
  countMetrics,
  isDuration,
  metrics,
  mostStatPoints,
  pointSchema,
  type Stats,
  statDimensions,
  statSeries,
} from './stat-series.ts';
export { MINUTE_MS, readRollUpState } from './store.ts';
export { bucketMs, bucketRange, rangeFields } from './time-range.ts';
export { type Totals, totalsOf } from './totals.ts';
export { type KeyUsage, keyUsageFields, keyUsageSchema, readUsageByKey } from './usage-by-key.ts';
