import type { ServerResponse } from 'node:http';
import type { AnswerNotes } from '@postrider/core';

type Window = NonNullable<AnswerNotes['window']>;

const LINGER_MS = 1000;
const FIXED_HEADERS = [
  'content-type',
  'application/json; charset=utf-8',
  'cache-control',
  'no-store',
  'x-content-type-options',
  'nosniff',
  'referrer-policy',
  'no-referrer',
] as const;

export interface Answer {
  readonly status: number;
  readonly body: unknown;
  readonly request_id: string;
  readonly window: Window;
  readonly window_name: string;
  readonly replayed: boolean;
  readonly close: boolean;
}

/** Writes a JSON answer with the headers that every response of /v1 carries. */
export function respond(response: ServerResponse, answer: Answer): void {
  const text = JSON.stringify(answer.body);
  const bytes = Buffer.byteLength(text);
  response.writeHead(answer.status, answerHeaders(answer, bytes));
  if (answer.close) endAfterBody(response, text);
  // ASCII is the same in both, and latin1 is cheaper to write.
  else response.end(text, bytes === text.length ? 'latin1' : 'utf8');
}

/** A flat list of names and values, which node:http writes without validating each name again. */
export function answerHeaders(answer: Answer, bytes: number): (string | number)[] {
  const { window, status } = answer;
  const headers: (string | number)[] = [
    ...FIXED_HEADERS,
    'content-length',
    bytes,
    'x-request-id',
    answer.request_id,
    'x-ratelimit-limit',
    window.limit,
    'x-ratelimit-remaining',
    window.remaining,
    'x-ratelimit-reset',
    window.reset_unix,
    'ratelimit-policy',
    `"${answer.window_name}";q=${window.limit};w=60`,
    'ratelimit',
    `"${answer.window_name}";r=${window.remaining};t=${window.retry_after_seconds}`,
  ];
  if (status === 429) headers.push('retry-after', window.retry_after_seconds);
  if (status === 401) headers.push('www-authenticate', 'Bearer realm="postrider"');
  if (answer.replayed) headers.push('idempotent-replayed', 'true');
  if (answer.close) headers.push('connection', 'close');
  return headers;
}

/**
 * Closing a socket while the client still sends resets it, and the reset can overtake the answer (RFC 9112 section 9.6).
 * So the rest of the body is discarded for a moment.
 */
function endAfterBody(response: ServerResponse, text: string): void {
  response.write(text);
  const { req: request } = response;
  const patience = setTimeout(() => response.end(), LINGER_MS);
  request.once('close', () => {
    clearTimeout(patience);
    response.end();
  });
  request.resume();
}
