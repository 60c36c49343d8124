import { PrometheusExporter, PrometheusSerializer } from '@opentelemetry/exporter-prometheus';
import { MeterProvider } from '@opentelemetry/sdk-metrics';
import type { MetricReading } from '@postrider/core';
import { createMetricProducer, type ProcessName, resourceOf } from './metric-producer.ts';

/** Writes metrics in the text format of Prometheus. Loaded with the SDK at the first scrape. */
export function createExposition(name: ProcessName): (readings: readonly MetricReading[]) => Promise<string> {
  let read: readonly MetricReading[] = [];
  const exporter = new PrometheusExporter({
    preventServerStart: true,
    metricProducers: [createMetricProducer(name, () => read)],
  });
  // The reader belongs to a provider, as the SDK wants it; what is exported comes from the producer.
  new MeterProvider({ resource: resourceOf(name), readers: [exporter] });
  const serializer = new PrometheusSerializer('', false, undefined, true, true);
  return async (readings) => {
    read = readings;
    const { resourceMetrics, errors } = await exporter.collect();
    if (errors.length > 0) throw errors[0];
    return serializer.serialize(resourceMetrics);
  };
}
