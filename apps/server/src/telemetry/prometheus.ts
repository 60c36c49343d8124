import { PrometheusExporter, PrometheusSerializer } from '@opentelemetry/exporter-prometheus';
import { MeterProvider } from '@opentelemetry/sdk-metrics';
import type { MetricReading } from '@postrider/core';
import { createMetricProducer, type ProcessName, resourceOf } from './metric-producer.ts';

/**
 * Creates a writer for metrics in the Prometheus text format. This module is loaded with the SDK on the first scrape.
 */
export function createExposition(name: ProcessName): (readings: readonly MetricReading[]) => Promise<string> {
  let read: readonly MetricReading[] = [];
  const exporter = new PrometheusExporter({
    preventServerStart: true,
    metricProducers: [createMetricProducer(name, () => read)],
  });
  // The SDK requires a reader to belong to a provider. The exported data comes from the producer.
  new MeterProvider({ resource: resourceOf(name), readers: [exporter] });
  const serializer = new PrometheusSerializer('', false, undefined, true, true);
  return async (readings) => {
    read = readings;
    const { resourceMetrics, errors } = await exporter.collect();
    if (errors.length > 0) throw errors[0];
    return serializer.serialize(resourceMetrics);
  };
}
