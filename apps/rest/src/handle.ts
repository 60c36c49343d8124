import type { IncomingMessage, ServerResponse } from 'node:http';
import {
  type AnswerNotes,
  AppError,
  type Context,
  type Credential,
  createContext,
  errorBody,
  httpStatus,
  invokeParsed,
  newId,
  type Parsed,
  readTraceparent,
  retryAfterSeconds,
  type Services,
} from '@postrider/core';
import { authenticate, countPublic, refuseAddress } from '@postrider/core/api-keys';
import { admitBearer, readBearer, requireAdmittedSince, type SessionBearer } from '@postrider/core/people';
import { type ClientAddress, createClientAddress } from '@postrider/net';
import { bearerToken } from './bearer-token.ts';
import { bodyPlaceOf } from './body-line.ts';
import { asAppError } from './errors.ts';
import { idempotencyKeyOf } from './idempotency-key.ts';
import {
  type Match,
  matchRoute,
  methodsOf,
  parametersOf,
  type RequestMatch,
  requestOf,
  routeNotFound,
} from './match.ts';
import { openApiDocument } from './openapi.ts';
import { readBody, UNBUDGETED_BYTES } from './read-body.ts';
import { repeatedHeader, repeatedRefusal } from './repeated-header.ts';
import { type ApiResponse, respond } from './respond.ts';
import { unknownWindow, type WindowName } from './unknown-window.ts';

const TOO_MANY = 429;
const UNMATCHED = 'none';

// Shared, so it must never be modified.
const NO_QUERY = new URLSearchParams();

type Outcome = Pick<
  ApiResponse,
  'status' | 'body' | 'retry_after_seconds' | 'replayed' | 'ignored_fields' | 'allow'
> & {
  readonly window: ApiResponse['window'] | null;
  readonly window_name: WindowName;
  /** The name of the matched route, for the metrics. Unknown paths and methods have no name. */
  readonly route: string;
  readonly method: string;
  /** The reason of an error response. */
  readonly policy: string | null;
  /** The details of a rejected request for the request log. */
  readonly rejection?: Rejection;
};

interface Rejection
  extends Pick<
    Parameters<Services['request_log']['note']>[0],
    'error' | 'actor' | 'secret_hash' | 'address' | 'input'
  > {}

/** Serves /v1 over node:http. Checks run in this order: route, key, window, scope, body. */
export function createHandler(
  services: Services,
): (request: IncomingMessage, response: ServerResponse) => Promise<void> {
  const clientAddress = createClientAddress(services.config.TRUSTED_PROXIES);
  return async (request, response) => {
    const started_at = performance.now();
    const request_id = newId('request', services.clock.now());
    const parent = readTraceparent(request.headers.traceparent);
    const span = services.tracing.begin('request', { parent });
    const outcome = await serve(services, clientAddress, request, { request_id, trace: span.traceparent });
    const { route, method, status } = outcome;
    span.end({ failed: status >= 500, name: `${method} ${route}`, facts: { status, request_id } });
    const { metrics } = services;
    metrics.count('http_requests_total', ['rest', outcome.route, outcome.method, String(outcome.status)]);
    metrics.observe('http_request_seconds', ['rest', outcome.route], (performance.now() - started_at) / 1000);
    if (outcome.status === TOO_MANY) metrics.count('rate_limited_total', [outcome.policy ?? 'none']);
    respond(response, {
      ...outcome,
      request_id,
      window: outcome.window ?? unknownWindow(services, outcome.window_name),
      // Otherwise, the rest of an unread body would be parsed as the next request.
      close: !request.complete,
    });
    const { rejection } = outcome;
    const duration_ms = performance.now() - started_at;
    if (rejection)
      services.request_log.note({
        ...rejection,
        id: request_id,
        api: 'rest',
        method,
        path: route,
        status,
        duration_ms,
      });
  };
}

async function serve(
  services: Services,
  clientAddress: ClientAddress,
  request: IncomingMessage,
  { request_id, trace }: { readonly request_id: string; readonly trace: string | null },
): Promise<Outcome> {
  const target = readTarget(request.url ?? '');
  const route = matchRoute(request.method ?? '', target.path_below);
  const { match, faults } = route && target.query !== NO_QUERY ? requestOf(route, target.query) : unasked(route);
  const other_methods = match === null ? methodsOf(target.path_below) : [];
  const repeated = repeatedHeader(request.rawHeaders);
  const route_names =
    match === null ? { route: UNMATCHED, method: UNMATCHED } : { route: match.route.path, method: match.route.method };
  let window: ApiResponse['window'] | null = null;
  let window_name: WindowName = match ? match.route.rate_class : 'address';
  let notes: AnswerNotes | null = null;
  const caller: { actor: Rejection['actor']; secret_hash: Buffer | null; address: string | null; input: unknown } = {
    actor: null,
    secret_hash: null,
    address: null,
    input: undefined,
  };
  const fail = (error: AppError): Outcome => ({
    status: httpStatus[error.code],
    body: errorBody(error, request_id, services.public_url),
    retry_after_seconds: error.code === 'rate_limited' ? retryAfterSeconds(error, services.clock.now()) : null,
    replayed: false,
    ignored_fields: notes?.ignored_fields ?? [],
    ...(other_methods.length > 0 && { allow: other_methods }),
    window,
    window_name,
    policy: error.reason,
    rejection: { ...caller, error },
    ...route_names,
  });
  try {
    const address = clientAddress(request.socket, request.headers['x-forwarded-for']);
    caller.address = address;
    if ((request.method === 'GET' || request.method === 'HEAD') && target.path_below === '/openapi.json') {
      window_name = 'address';
      const window_count = await countPublic(services, address);
      window = window_count.window;
      if ('error' in window_count) return fail(window_count.error);
      const body = openApiDocument(services.public_url);
      const document = { route: '/openapi.json', method: 'GET', policy: null };
      const defaults = { retry_after_seconds: null, replayed: false, ignored_fields: [] };
      return { status: 200, body, ...defaults, window, window_name, ...document };
    }
    const refuse = async (fallback: AppError): Promise<Outcome> => {
      window_name = 'address';
      const refusal = await refuseAddress(services, address, fallback);
      window = refusal.window;
      return fail(refusal.error);
    };
    if (!match) return await refuse(routeNotFound(request.method ?? '', target.path));
    if (repeated === 'Authorization') return await refuse(repeatedRefusal(repeated));
    const credential = readBearer(bearerToken(request.headers.authorization), address);
    if (credential instanceof AppError) return await refuse(credential);
    if (credential.kind === 'session') window_name = 'session';
    caller.secret_hash = credential.secret_hash;
    const idempotency_key = repeated === null ? idempotencyKeyOf(request) : repeatedRefusal(repeated);
    const ctx = await admitted(services, match, credential, {
      request_id,
      trace,
      idempotency_key: idempotency_key instanceof AppError ? null : idempotency_key,
      large_body: !(Number(request.headers['content-length']) <= UNBUDGETED_BYTES),
    });
    if ('error' in ctx) {
      window = ctx.window;
      caller.actor = ctx.actor ?? null;
      window_name = windowNameOf(ctx.error) ?? window_name;
      return fail(ctx.error);
    }
    notes = ctx.notes;
    caller.actor = ctx.actor.kind === 'credential' ? null : ctx.actor;
    window = notes.window;
    const checked_at = performance.now();
    const place = bodyPlaceOf(services, ctx, request);
    try {
      const input: Parsed<unknown> =
        idempotency_key instanceof AppError
          ? { ok: false, error: idempotency_key }
          : withFaults(await readInput(match, target.query, request, place.reserve), faults);
      caller.input = input.ok ? input.value : undefined;
      await requireAdmittedSince(ctx, checked_at);
      const body = await invokeParsed(ctx, match.route.operation, input);
      const { replayed, ignored_fields, window } = notes;
      return {
        status: match.route.status,
        body,
        retry_after_seconds: null,
        replayed,
        ignored_fields,
        window,
        window_name,
        policy: null,
        ...route_names,
      };
    } finally {
      place.leave();
      window = notes.window;
    }
  } catch (error) {
    const public_error = asAppError(error);
    window_name = windowNameOf(public_error) ?? window_name;
    if (public_error.code === 'internal_error') services.log.error({ err: error, request_id }, 'a request failed');
    return fail(public_error);
  }
}

type AddressRefusal = Awaited<ReturnType<typeof refuseAddress>>;

/** Authenticates the key and counts its request now, unless the operation does so in its own batch. */
async function admitted(
  services: Services,
  match: Match,
  credential: Credential | SessionBearer,
  context: {
    readonly request_id: string;
    readonly trace: string | null;
    readonly idempotency_key: string | null;
    readonly large_body: boolean;
  },
): Promise<Context | AddressRefusal> {
  if (credential.kind === 'session') {
    const admission = await admitBearer(services, credential);
    if ('error' in admission) return admission;
    const ctx = createContext(services, admission.actor, { ...context, via: 'rest', address: credential.address });
    ctx.notes.window = admission.window;
    return ctx;
  }
  // The batch checks the key and counts the request, unless a large body would take up memory first.
  const { self_admitting } = match.route;
  if (self_admitting && !context.large_body) return createContext(services, credential, { ...context, via: 'rest' });
  const response = await authenticate(services, credential, match.route.rate_class);
  if ('error' in response) return response;
  const { address } = credential;
  const ctx = createContext(services, response.actor, {
    ...context,
    via: 'rest',
    address,
    send_counted: self_admitting,
  });
  ctx.notes.window = response.window;
  return ctx;
}

/** Returns the window that the headers describe, if it differs from the route's. */
function windowNameOf({ code, reason }: AppError): WindowName | null {
  // Requests without a valid key are counted by address.
  if (code === 'unauthorized' || reason === 'address_rate') return 'address';
  if (reason === 'workspace_rate') return 'workspace';
  return reason === 'send_rate' ? 'send' : null;
}

interface Target {
  readonly path: string;
  /** The path below /v1 as sent. Dot segments are not resolved, so each endpoint has exactly one spelling. */
  readonly path_below: string;
  readonly query: URLSearchParams;
}

function readTarget(url: string): Target {
  const mark = url.indexOf('?');
  const path = mark < 0 ? url : url.slice(0, mark);
  return {
    path,
    path_below: path.startsWith('/v1/') ? path.slice('/v1'.length) : '',
    query: mark < 0 ? NO_QUERY : new URLSearchParams(url.slice(mark)),
  };
}

/**
 * Reads an operation's input. Path parameters take precedence over the body and the query, so that neither can refer to
 * another object.
 */
async function readInput(
  { route, params }: Match,
  query: URLSearchParams,
  request: IncomingMessage,
  reserve: (bytes: number) => Promise<void>,
): Promise<Parsed<unknown>> {
  if (route.method === 'GET') return { ok: true, value: { ...fieldsOf(query, parametersOf(route)), ...params } };
  const body = await readBody(request, route.max_body_bytes, reserve);
  const single = Object.keys(params).length === 0;
  if (!body.ok || (single && route.method !== 'DELETE')) return body;
  if (body.value === undefined) return { ok: true, value: params };
  return { ok: true, value: isObject(body.value) ? { ...body.value, ...params } : body.value };
}

function fieldsOf(query: URLSearchParams, known: readonly string[]): Record<string, string | string[]> {
  return Object.fromEntries(
    known.flatMap((name): [string, string | string[]][] => {
      const [first, ...others] = query.getAll(name);
      return first === undefined ? [] : [[name, others.length === 0 ? first : [first, ...others]]];
    }),
  );
}

function unasked(match: Match | null): { readonly match: Match | null; readonly faults: RequestMatch['faults'] } {
  return { match, faults: [] };
}

function withFaults(input: Parsed<unknown>, faults: RequestMatch['faults']): Parsed<unknown> {
  return input.ok && faults.length > 0 ? { ...input, faults } : input;
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
