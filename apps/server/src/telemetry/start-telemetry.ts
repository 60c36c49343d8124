import { type Config, noTracing, type Services, type Tracing } from '@postrider/core';
import { processName } from './metrics-endpoint.ts';

/** Exports over OTLP if OTEL_EXPORTER_OTLP_ENDPOINT is set. Otherwise, OpenTelemetry is not loaded at all. */
export async function startTelemetry(services: Services, port: number): Promise<{ stop(): Promise<void> }> {
  const { config, metrics, log } = services;
  if (config.OTEL_EXPORTER_OTLP_ENDPOINT === undefined) return { stop: async () => undefined };
  const { startMetricExport } = await import('./otlp.ts');
  const stopMetrics = startMetricExport(config.OTEL_EXPORTER_OTLP_ENDPOINT, processName(services, port), () =>
    metrics.read(),
  );
  return {
    // An unavailable collector does not delay shutdown.
    stop: () =>
      withinASecond(stopMetrics()).catch((error: unknown) =>
        log.warn({ err: error }, 'failed to export the final metrics'),
      ),
  };
}

/** Exports traces over OTLP if configured. */
export async function startTraces(
  config: Config,
  port: number,
): Promise<{ readonly tracing: Tracing; stop(): Promise<void> }> {
  const { OTEL_EXPORTER_OTLP_ENDPOINT: endpoint, OTEL_TRACES_SAMPLER_ARG: share } = config;
  if (endpoint === undefined) return { tracing: noTracing, stop: async () => undefined };
  const { createTracing, otlpSpans } = await import('./traces.ts');
  const { tracing, stop } = createTracing(processName({ config }, port), otlpSpans(endpoint), share);
  return { tracing, stop: () => withinASecond(stop()).catch(() => undefined) };
}

function withinASecond(work: Promise<void>): Promise<void> {
  return Promise.race([work, new Promise<void>((resolve) => setTimeout(resolve, 1000).unref())]);
}
