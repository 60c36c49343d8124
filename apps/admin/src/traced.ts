import { readTraceparent, type Services } from '@postrider/core';
import type { MiddlewareHandler } from 'hono';
import type { AdminEnv } from './admin-env.ts';

/** Creates a span for each API request, in the client's trace if the request has one. */
export function traced({ tracing }: Services, route: string): MiddlewareHandler<AdminEnv> {
  return async (context, next) => {
    const span = tracing.begin('request', { parent: readTraceparent(context.req.header('traceparent')) });
    context.set('trace', span.traceparent);
    await next();
    const { status } = context.res;
    const facts = { status, request_id: context.var.request_id };
    span.end({ failed: status >= 500, name: `${context.req.method} ${route}`, facts });
  };
}
