import { codeOf, httpStatus, type Services } from '@postrider/core';
import { listenHttp, type World } from '@postrider/testing';
import { endAfterTests } from '@postrider/testing/open-world';
import { expect } from 'vitest';
import { createHandler } from '../src/index.ts';
import { matchRoute, requestOf } from '../src/match.ts';
import { errorSchema } from '../src/openapi.ts';
import { commonReasons, reasonsOf } from '../src/route-reasons.ts';

export interface ApiResponse {
  readonly status: number;
  readonly headers: Headers;
  // Tests read responses as a client would, without a schema. Each one asserts on the fields it names.
  readonly body: Record<string, unknown>;
  readonly text: string;
}

export interface RestServer {
  readonly url: string;
  readonly port: number;
  /** Sends a request with a key. An object becomes a JSON body; strings and bytes are sent unchanged. */
  call(method: string, path: string, options?: CallOptions): Promise<ApiResponse>;
  stop(): Promise<void>;
}

export interface CallOptions {
  readonly key?: string | null;
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
}

/** Serves /v1 on a separate socket. */
export async function startRest(services: Services, default_key: string): Promise<RestServer> {
  const { port, url: origin, stop } = await listenHttp(createHandler(services));
  const url = `${origin}/v1`;
  return {
    url,
    port,
    async call(method, path, { key = default_key, body, headers = {} } = {}) {
      const response = await fetch(`${url}${path}`, {
        method,
        headers: {
          ...(key !== null && { authorization: `Bearer ${key}` }),
          ...(body !== undefined && { 'content-type': 'application/json' }),
          ...headers,
        },
        ...(body !== undefined && { body: bodyOf(body) }),
      });
      const text = await response.text();
      const json = JSON.parse(text) as Record<string, unknown>;
      expectDocumented(method, new URL(response.url), response.status, json);
      return { status: response.status, headers: response.headers, text, body: json };
    },
    stop,
  };
}

/** Serves /v1 for a test file, with the world's key by default, until its last test has ended. */
export async function openRest({ services, secret }: World): Promise<RestServer> {
  return endAfterTests(await startRest(services, secret));
}

/** Checks that every response in every test matches the documentation: no field is missing, wrong, or undocumented. */
function expectDocumented(method: string, { pathname, searchParams }: URL, status: number, body: unknown): void {
  const match = matchRoute(method, pathname.slice('/v1'.length));
  if (status >= 400) {
    const { error } = errorSchema.parse(body);
    expect(status).toBe(httpStatus[error.code]);
    expect(codeOf(error.reason)).toBe(error.code);
    const possible = match
      ? reasonsOf(requestOf(match, searchParams).match.route)
      : ['route_not_found', ...commonReasons];
    for (const reason of [error.reason, ...(error.details ?? []).map((detail) => detail.reason)])
      expect(possible, `${method} ${pathname}`).toContain(reason);
  } else if (match) {
    const { route } = requestOf(match, searchParams).match;
    expect(status).toBe(route.status);
    // Parsing drops whatever the schema does not declare.
    expect(route.operation.output.parse(body)).toEqual(body);
  }
}

function bodyOf(body: unknown): string | Uint8Array<ArrayBuffer> {
  if (body instanceof Uint8Array) return Uint8Array.from(body);
  return typeof body === 'string' ? body : JSON.stringify(body);
}

export interface PublicError {
  readonly code: string;
  readonly reason: string;
  readonly message: string;
  readonly details?: readonly { readonly param: string; readonly reason: string; readonly message: string }[];
  readonly required_scope?: string;
  readonly request_id: string;
  readonly docs_url: string;
  readonly [fact: string]: unknown;
}

/** Returns the error of a response after checking its shape and ID. */
export function errorOf(response: Pick<ApiResponse, 'body' | 'headers'>): PublicError {
  expect(response.body).toEqual({
    error: expect.objectContaining({
      code: expect.any(String),
      reason: expect.any(String),
      message: expect.stringMatching(/^\S.*\S$/s),
      request_id: response.headers.get('x-request-id'),
      docs_url: expect.stringMatching(/^http.*\/errors\/[a-z_]+$/),
    }),
  });
  // Safe after the expectation above.
  return response.body.error as PublicError;
}

/** Returns `param reason` for every detail, in order. */
export function detailsOf(response: Pick<ApiResponse, 'body' | 'headers'>): string[] {
  return (errorOf(response).details ?? []).map((detail) => `${detail.param} ${detail.reason}`);
}

/** Returns the rate headers after checking them for a response at the given time. */
export function rateOf(response: Pick<ApiResponse, 'status' | 'headers'>, now_ms: number) {
  const number = (name: string) => {
    const text = response.headers.get(name);
    expect(text, name).toMatch(/^\d+$/);
    return Number(text);
  };
  const window = {
    limit: number('x-ratelimit-limit'),
    remaining: number('x-ratelimit-remaining'),
    reset_unix: number('x-ratelimit-reset'),
  };
  const now_unix = now_ms / 1000;
  // The minute may have ended since the response.
  expect(window.reset_unix).toBeGreaterThan(now_unix - 5);
  expect(window.reset_unix).toBeLessThanOrEqual(now_unix + 60);
  expect(window.remaining).toBeLessThan(window.limit);
  expect(response.headers.get('x-request-id')).toMatch(/^req_[0-9a-z]{26}$/);
  if (response.status === 429) {
    const seconds = number('retry-after');
    expect(seconds).toBeGreaterThanOrEqual(1);
    expect(seconds).toBeLessThanOrEqual(60);
  } else expect(response.headers.has('retry-after')).toBe(false);
  return window;
}
