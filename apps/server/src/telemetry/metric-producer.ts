import { type HrTime, ValueType } from '@opentelemetry/api';
import { hrTime } from '@opentelemetry/core';
import { type Resource, resourceFromAttributes } from '@opentelemetry/resources';
import {
  AggregationTemporality,
  DataPointType,
  type MetricData,
  type MetricDescriptor,
  type MetricProducer,
} from '@opentelemetry/sdk-metrics';
import { type HistogramValue, type MetricPoint, type MetricReading, metricDefinition } from '@postrider/core';

export const PREFIX = 'postrider';

/** Identifies a process: the `role` and `instance` labels of all its metrics. */
export interface ProcessName {
  readonly role: string;
  readonly instance: string;
}

export function resourceOf({ role, instance }: ProcessName): Resource {
  return resourceFromAttributes({ 'service.name': PREFIX, 'service.instance.id': instance, role, instance });
}

/** Supplies this process's readings to the SDK, which exports them. */
export function createMetricProducer(name: ProcessName, read: () => readonly MetricReading[]): MetricProducer {
  const resource = resourceOf(name);
  const startTime = hrTime();
  return {
    async collect() {
      const endTime = hrTime();
      const metrics = read().map((reading) => dataOf(name, reading, startTime, endTime));
      return { resourceMetrics: { resource, scopeMetrics: [{ scope: { name: PREFIX }, metrics }] }, errors: [] };
    },
  };
}

function dataOf(process: ProcessName, { name, points }: MetricReading, startTime: HrTime, endTime: HrTime): MetricData {
  const { kind, help, labels } = metricDefinition(name);
  const descriptor: MetricDescriptor = {
    name: `${PREFIX}_${name}`,
    description: help,
    unit: '',
    valueType: ValueType.DOUBLE,
  };
  const place = ({ labels: values }: MetricPoint) => {
    const own: Record<string, string> = Object.fromEntries(labels.map((label, index) => [label, values[index] ?? '']));
    // A scrape with a duplicate label is rejected as a whole. worker_live sets its own `role` to count processes.
    return { startTime, endTime, attributes: { ...own, role: own.role ?? process.role, instance: process.instance } };
  };
  const shared = { descriptor, aggregationTemporality: AggregationTemporality.CUMULATIVE };
  if (kind === 'histogram') {
    const dataPoints = points.map((point) => ({ ...place(point), value: bucketsOf(point.value) }));
    return { ...shared, dataPointType: DataPointType.HISTOGRAM, dataPoints };
  }
  const dataPoints = points.map((point) => ({ ...place(point), value: Number(point.value) }));
  if (kind === 'gauge') return { ...shared, dataPointType: DataPointType.GAUGE, dataPoints };
  return { ...shared, dataPointType: DataPointType.SUM, isMonotonic: true, dataPoints };
}

function bucketsOf(value: number | HistogramValue) {
  if (typeof value === 'number') throw new Error('a histogram has buckets');
  const { bounds, counts, sum, count } = value;
  return { buckets: { boundaries: [...bounds], counts: [...counts] }, sum, count };
}
