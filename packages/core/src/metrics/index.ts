export { readMetrics } from './read-metrics.ts';
export type { InstanceNumbers } from './store.ts';
export { createInstanceWatch, type InstanceWatch, type Judge, startInstanceWatch } from './watch-instance.ts';
