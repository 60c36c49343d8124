import { OTLPMetricExporter } from '@opentelemetry/exporter-metrics-otlp-http';
import { MeterProvider, PeriodicExportingMetricReader } from '@opentelemetry/sdk-metrics';
import type { MetricReading } from '@postrider/core';
import { createMetricProducer, type ProcessName, resourceOf } from './metric-producer.ts';

const EXPORT_MS = 60_000;

/** Exports metrics over OTLP. The headers, timeout, and certificates come from the standard variables. */
export function startMetricExport(
  endpoint: string,
  name: ProcessName,
  read: () => readonly MetricReading[],
): () => Promise<void> {
  const reader = new PeriodicExportingMetricReader({
    exporter: new OTLPMetricExporter({ url: `${endpoint.replace(/\/$/, '')}/v1/metrics` }),
    exportIntervalMillis: EXPORT_MS,
    metricProducers: [createMetricProducer(name, read)],
  });
  const provider = new MeterProvider({ resource: resourceOf(name), readers: [reader] });
  return () => provider.shutdown();
}
