export { catchUp } from './catch-up.ts';
export { rollUpStats, trimStats } from './roll-up.ts';
export {
  buckets,
  isDuration,
  metrics,
  mostStatPoints,
  pointSchema,
  type Stats,
  statDimensions,
  statSeries,
} from './stat-series.ts';
export { MINUTE_MS, standOf } from './store.ts';
export { bucketMs, bucketRange, rangeFields } from './time-range.ts';
