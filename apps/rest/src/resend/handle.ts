import type { IncomingMessage, ServerResponse } from 'node:http';
import {
  AppError,
  type Context,
  createContext,
  DEFAULT_BODY_BYTES,
  newId,
  type Parsed,
  readTraceparent,
  retryAfterHeader,
  SEND_BODY_BYTES,
  type Services,
} from '@postrider/core';
import { authenticate, readCredential, refuseAddress } from '@postrider/core/api-keys';
import { requireAdmittedSince } from '@postrider/core/people';
import { createClientAddress } from '@postrider/net';
import { bearerToken } from '../bearer-token.ts';
import { bodyPlaceOf } from '../body-line.ts';
import { asAppError } from '../errors.ts';
import { idempotencyKeyOf } from '../idempotency-key.ts';
import { matchSegments } from '../match.ts';
import { readBody } from '../read-body.ts';
import { type ResendError, resendError } from './errors.ts';
import { type Row, rows } from './rows.ts';

const PREFIX = '/resend';

interface ResendResponse {
  readonly status: number;
  readonly body: unknown;
  readonly retry?: Record<string, string>;
}

/** Serves Resend clients below /resend. Supports only the Resend routes that have a counterpart in core. */
export function createResendHandler(
  services: Services,
): (request: IncomingMessage, response: ServerResponse) => Promise<void> {
  const clientAddress = createClientAddress(services.config.TRUSTED_PROXIES);

  /** Checks the key, the window, and then the body, in the same order as /v1. */
  const serve = async (
    request: IncomingMessage,
    { request_id, trace }: Pick<Context, 'request_id' | 'trace'>,
    url: URL,
    route: RouteResult,
  ): Promise<ResendResponse> => {
    const address = clientAddress(request.socket, request.headers['x-forwarded-for']);
    const credential = readCredential(bearerToken(request.headers.authorization), address);
    if (credential instanceof AppError) throw (await refuseAddress(services, address, credential)).error;
    if (route instanceof AppError) throw (await refuseAddress(services, address, route)).error;
    const { row, params } = route;
    const admitted = await authenticate(services, credential, row.rate_class);
    if ('error' in admitted) throw admitted.error;
    const idempotency_key = idempotencyKeyOf(request);
    if (idempotency_key instanceof AppError) throw idempotency_key;
    const ctx: Context = createContext(services, admitted.actor, {
      request_id,
      idempotency_key,
      via: 'resend',
      address,
      send_counted: row.rate_class === 'send',
      trace,
    });
    const checked_at = performance.now();
    const place = bodyPlaceOf(services, ctx, request);
    try {
      const body: Parsed<unknown> =
        request.method === 'GET'
          ? { ok: true, value: undefined }
          : await readBody(request, row.rate_class === 'send' ? SEND_BODY_BYTES : DEFAULT_BODY_BYTES, place.reserve);
      await requireAdmittedSince(ctx, checked_at);
      const resend_request = { params, query: url.searchParams, body, headers: request.headers };
      return { status: row.status, body: await row.answer(ctx, resend_request) };
    } finally {
      place.leave();
    }
  };

  return async (request, response) => {
    const started_at = performance.now();
    const request_id = newId('request', services.clock.now());
    const url = new URL(request.url ?? '/', 'http://localhost');
    const target = find(request.method ?? '', url.pathname.slice(PREFIX.length));
    const { metrics, tracing } = services;
    const span = tracing.begin('request', { parent: readTraceparent(request.headers.traceparent) });
    const context = { request_id, trace: span.traceparent };
    const {
      status,
      body,
      retry = {},
    } = await serve(request, context, url, target).catch((error: unknown) => {
      const public_error = asAppError(error);
      if (public_error.code === 'rate_limited') metrics.count('rate_limited_total', [public_error.reason]);
      if (public_error.code === 'internal_error') services.log.error({ err: error, request_id }, 'a request failed');
      const resend_error: ResendError = resendError(public_error);
      const retry = retryAfterHeader(public_error, services.clock.now(), resend_error.statusCode);
      return { status: resend_error.statusCode, body: resend_error, retry };
    });
    const [route, method] = target instanceof AppError ? ['none', 'none'] : [target.row.path, target.row.method];
    span.end({ failed: status >= 500, name: `${method} ${PREFIX}${route}`, facts: { status, request_id } });
    metrics.count('http_requests_total', ['resend', route, method, String(status)]);
    metrics.observe('http_request_seconds', ['resend', route], (performance.now() - started_at) / 1000);
    response.writeHead(status, {
      'content-type': 'application/json; charset=utf-8',
      'cache-control': 'no-store',
      'x-content-type-options': 'nosniff',
      'x-request-id': request_id,
      ...retry,
      ...(request.complete ? {} : { connection: 'close' }),
    });
    response.end(JSON.stringify(body));
  };
}

// Resend paths that look like the path of a single email.
const NO_EMAIL: ReadonlySet<string> = new Set(['/emails/metrics', '/emails/receiving']);

type RouteResult = { readonly row: Row; readonly params: Readonly<Record<string, string>> } | AppError;

function find(method: string, path: string): RouteResult {
  const parts = path.split('/');
  for (const row of NO_EMAIL.has(path) ? [] : rows) {
    const segments = row.path.split('/');
    if (row.method !== method || segments.length !== parts.length) continue;
    const params = matchSegments(segments, parts);
    if (params) return { row, params };
  }
  const offered = 'emails, domains, api-keys, webhooks and suppressions';
  return new AppError(
    'route_not_found',
    `${method} ${path.slice(0, 100)} is not supported. Supported Resend APIs: ${offered}.`,
  );
}
