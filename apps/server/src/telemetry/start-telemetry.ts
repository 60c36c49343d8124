import type { Services } from '@postrider/core';
import { processName } from './metrics-endpoint.ts';

/** Exports by OTLP where OTEL_EXPORTER_OTLP_ENDPOINT is set; otherwise nothing of OpenTelemetry is loaded. */
export async function startTelemetry(services: Services, port: number): Promise<{ stop(): Promise<void> }> {
  const { config, metrics, log } = services;
  if (config.OTEL_EXPORTER_OTLP_ENDPOINT === undefined) return { stop: async () => undefined };
  const { startMetricExport } = await import('./otlp.ts');
  const stopMetrics = startMetricExport(config.OTEL_EXPORTER_OTLP_ENDPOINT, processName(services, port), () =>
    metrics.read(),
  );
  return {
    // A collector that is gone does not hold up a stop.
    stop: () =>
      Promise.race([stopMetrics(), new Promise<void>((resolve) => setTimeout(resolve, 1000).unref())]).catch(
        (error: unknown) => log.warn({ err: error }, 'the last metrics could not be exported'),
      ),
  };
}
