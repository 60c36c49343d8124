import { z } from 'zod';
import { operation } from '../operation/operation.ts';
import type { MetricReading } from '../process/metrics.ts';

/** What this process has counted, and the gauges of the instance where it watches it. */
export const readMetrics = operation({
  name: 'metrics.read',
  scope: 'operator',
  summary: 'The metrics of this process',
  input: z.object({}),
  output: z.custom<readonly MetricReading[]>(),
  run: async (ctx) => ctx.metrics.read(),
});
