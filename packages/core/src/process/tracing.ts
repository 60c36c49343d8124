export interface Span {
  /** The value of a traceparent header; null if the trace is not sampled. */
  readonly traceparent: string | null;
  end(result: {
    readonly failed: boolean;
    readonly name?: string;
    readonly facts?: Readonly<Record<string, string | number>>;
  }): void;
}

/**
 * Traces of requests and messages. Facts are ids, counts and fixed words, never an address, a key or part of a message.
 */
export interface Tracing {
  /** Starts a span in a trace or, without a parent, a new trace, which may be linked to another one. */
  begin(name: string, context?: { readonly parent?: string | undefined; readonly link?: string | undefined }): Span;
}

export const noSpan: Span = { traceparent: null, end: () => undefined };
export const noTracing: Tracing = { begin: () => noSpan };

const TRACEPARENT = /^00-[0-9a-f]{32}-[0-9a-f]{16}-[0-9a-f]{2}$/;

/** Returns the header as the caller sent it, if it is well formed. */
export function readTraceparent(header: string | string[] | undefined): string | undefined {
  return typeof header === 'string' && TRACEPARENT.test(header) ? header : undefined;
}
