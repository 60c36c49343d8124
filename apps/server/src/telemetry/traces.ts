import {
  type Context,
  isSpanContextValid,
  type Link,
  ROOT_CONTEXT,
  type SpanContext,
  SpanStatusCode,
  TraceFlags,
  trace,
} from '@opentelemetry/api';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http';
import {
  BatchSpanProcessor,
  ParentBasedSampler,
  type Sampler,
  SamplingDecision,
  type SpanProcessor,
  TraceIdRatioBasedSampler,
  TracerProvider,
} from '@opentelemetry/sdk-trace';
import { noSpan, type Span, type Tracing } from '@postrider/core';
import { PREFIX, type ProcessName, resourceOf } from './metric-producer.ts';

/** Sends spans to a collector in batches; headers, timeout and certificates are those of the standard variables. */
export function otlpSpans(endpoint: string): SpanProcessor {
  return new BatchSpanProcessor({
    exporter: new OTLPTraceExporter({ url: `${endpoint.replace(/\/$/, '')}/v1/traces` }),
  });
}

/** Traces of this process. The share is that of requests whose caller has not decided. */
export function createTracing(
  name: ProcessName,
  processor: SpanProcessor,
  share: number,
): { readonly tracing: Tracing; stop(): Promise<void> } {
  const provider = new TracerProvider({
    resource: resourceOf(name),
    sampler: new ParentBasedSampler({ root: linkedOr(new TraceIdRatioBasedSampler(share)) }),
    spanProcessors: [processor],
  });
  const tracer = provider.getTracer(PREFIX);
  return {
    tracing: {
      begin(what, { parent, link } = {}): Span {
        const context = parent === undefined ? ROOT_CONTEXT : within(parent);
        const linked = link === undefined ? null : contextOf(link);
        const span = tracer.startSpan(what, linked ? { links: [{ context: linked }] } : {}, context);
        const own = span.spanContext();
        if ((own.traceFlags & TraceFlags.SAMPLED) === 0) return noSpan;
        return {
          traceparent: `00-${own.traceId}-${own.spanId}-01`,
          end({ failed, name: told, facts = {} }) {
            if (told !== undefined) span.updateName(told);
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

/** A trace that continues another one is sampled, because that one was. */
function linkedOr(otherwise: Sampler): Sampler {
  return {
    shouldSample(context, trace_id, what, kind, attributes, links: Link[]) {
      if (links.length > 0) return { decision: SamplingDecision.RECORD_AND_SAMPLED };
      return otherwise.shouldSample(context, trace_id, what, kind, attributes, links);
    },
    toString: () => `linked, or ${otherwise.toString()}`,
  };
}

function within(parent: string): Context {
  const context = contextOf(parent);
  return context ? trace.setSpanContext(ROOT_CONTEXT, context) : ROOT_CONTEXT;
}

function contextOf(traceparent: string): SpanContext | null {
  const [, traceId = '', spanId = '', flags = ''] = traceparent.split('-');
  const context = { traceId, spanId, traceFlags: Number.parseInt(flags, 16), isRemote: true };
  return isSpanContextValid(context) ? context : null;
}
