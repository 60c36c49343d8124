import type { ServerResponse } from 'node:http';
import type { AnswerNotes } from '@postrider/core';

type Window = NonNullable<AnswerNotes['window']>;

const LINGER_MS = 1000;
const MAX_IGNORED_SHOWN = 20;
// Header names are spelled as in the documentation, although case does not matter.
const FIXED_HEADERS = [
  'Content-Type',
  'application/json; charset=utf-8',
  'Cache-Control',
  'no-store',
  'X-Content-Type-Options',
  'nosniff',
  'Referrer-Policy',
  'no-referrer',
] as const;

export interface ApiResponse {
  readonly status: number;
  readonly body: unknown;
  readonly request_id: string;
  readonly window: Window;
  readonly window_name: string;
  /** Set for a 429. */
  readonly retry_after_seconds: number | null;
  readonly replayed: boolean;
  readonly ignored_fields: readonly string[];
  /** The methods of the path, if the request's was another one. */
  readonly allow?: readonly string[];
  readonly close: boolean;
}

/** Writes a JSON response with the headers that every /v1 response includes. */
export function respond(response: ServerResponse, reply: ApiResponse): void {
  const text = JSON.stringify(reply.body);
  const bytes = Buffer.byteLength(text);
  response.writeHead(reply.status, answerHeaders(reply, bytes));
  if (reply.close) endAfterBody(response, text);
  // ASCII is identical in both encodings, and latin1 is cheaper to write.
  else response.end(text, bytes === text.length ? 'latin1' : 'utf8');
}

/** Returns a flat list of names and values, which node:http writes without validating each name again. */
export function answerHeaders(response: ApiResponse, bytes: number): (string | number)[] {
  const { window, status } = response;
  const headers: (string | number)[] = [
    ...FIXED_HEADERS,
    'Content-Length',
    bytes,
    'X-Request-Id',
    response.request_id,
    'X-RateLimit-Limit',
    window.limit,
    'X-RateLimit-Remaining',
    window.remaining,
    'X-RateLimit-Reset',
    window.reset_unix,
    'RateLimit-Policy',
    `"${response.window_name}";q=${window.limit};w=60`,
    'RateLimit',
    `"${response.window_name}";r=${window.remaining};t=${window.retry_after_seconds}`,
  ];
  if (response.retry_after_seconds !== null) headers.push('Retry-After', response.retry_after_seconds);
  if (status === 401) headers.push('WWW-Authenticate', 'Bearer realm="postrider"');
  if (response.replayed) headers.push('Idempotent-Replayed', 'true');
  if (response.ignored_fields.length > 0) headers.push('Postrider-Ignored-Fields', headerList(response.ignored_fields));
  if (response.allow !== undefined) headers.push('Allow', response.allow.join(', '));
  if (response.close) headers.push('Connection', 'close');
  return headers;
}

/** Percent-encodes the name separator and characters not allowed in header values. */
function headerList(names: readonly string[]): string {
  return names
    .slice(0, MAX_IGNORED_SHOWN)
    .map((name) => name.replace(/[^!-$&-+\--~]/gu, encodeURIComponent))
    .join(', ');
}

/**
 * Ends a response and discards the rest of the request body for a moment. Closing a socket while the client is still
 * sending resets it, and the reset can overtake the response (RFC 9112 section 9.6).
 */
export function endAfterBody(response: ServerResponse, text: string): void {
  response.write(text);
  const { req: request } = response;
  const patience = setTimeout(() => response.end(), LINGER_MS);
  request.once('close', () => {
    clearTimeout(patience);
    response.end();
  });
  request.resume();
}
