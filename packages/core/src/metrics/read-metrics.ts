import { z } from 'zod';
import { operation } from '../operation/operation.ts';
import type { MetricReading } from '../process/metrics.ts';

/** Returns the metrics of this process and, if the process watches the instance, the instance's gauges. */
export const readMetrics = operation({
  name: 'metrics.read',
  scope: 'operator',
  summary: 'The metrics of this process',
  input: z.object({}),
  output: z.custom<readonly MetricReading[]>(),
  run: async (ctx) => ctx.metrics.read(),
});
