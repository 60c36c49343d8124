import {
  isSpanContextValid,
  ROOT_CONTEXT,
  type SpanContext,
  SpanStatusCode,
  TraceFlags,
  trace,
} from '@opentelemetry/api';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http';
import { AlwaysOnSampler, BatchSpanProcessor, type SpanProcessor, TracerProvider } from '@opentelemetry/sdk-trace';
import { noSpan, type Span, type Tracing } from '@postrider/core';
import { PREFIX, type ProcessName, resourceOf } from './metric-producer.ts';

/** Sends spans to a collector in batches. The headers, timeout, and certificates come from the standard variables. */
export function otlpSpans(endpoint: string): SpanProcessor {
  return new BatchSpanProcessor({
    exporter: new OTLPTraceExporter({ url: `${endpoint.replace(/\/$/, '')}/v1/traces` }),
  });
}

/**
 * Creates this process's tracing. The share applies to requests whose caller has not made a sampling decision. A trace
 * linked to an earlier trace is sampled because the earlier trace was.
 */
export function createTracing(
  name: ProcessName,
  processor: SpanProcessor,
  share: number,
): { readonly tracing: Tracing; stop(): Promise<void> } {
  const provider = new TracerProvider({
    resource: resourceOf(name),
    sampler: new AlwaysOnSampler(),
    spanProcessors: [processor],
  });
  const tracer = provider.getTracer(PREFIX);
  return {
    tracing: {
      begin(what, { parent, link } = {}): Span {
        const above = parent === undefined ? null : contextOf(parent);
        const linked = link === undefined ? null : contextOf(link);
        // Sampling is decided here because the SDK creates two random IDs and a span before it checks whether to
        // sample.
        const is_traced = above ? isSampled(above) : linked !== null || Math.random() < share;
        if (!is_traced) return noSpan;
        const context = above ? trace.setSpanContext(ROOT_CONTEXT, above) : ROOT_CONTEXT;
        const span = tracer.startSpan(what, linked ? { links: [{ context: linked }] } : {}, context);
        const own = span.spanContext();
        return {
          traceparent: `00-${own.traceId}-${own.spanId}-01`,
          end({ failed, name: new_name, facts = {} }) {
            if (new_name !== undefined) span.updateName(new_name);
            span.setAttributes(facts);
            if (failed) span.setStatus({ code: SpanStatusCode.ERROR });
            span.end();
          },
        };
      },
    },
    stop: () => provider.shutdown(),
  };
}

function isSampled({ traceFlags }: SpanContext): boolean {
  return (traceFlags & TraceFlags.SAMPLED) !== 0;
}

function contextOf(traceparent: string): SpanContext | null {
  const [, traceId = '', spanId = '', flags = ''] = traceparent.split('-');
  const context = { traceId, spanId, traceFlags: Number.parseInt(flags, 16), isRemote: true };
  return isSpanContextValid(context) ? context : null;
}
