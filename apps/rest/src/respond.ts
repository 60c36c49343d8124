import type { ServerResponse } from 'node:http';
import type { AnswerNotes } from '@postrider/core';

type Window = NonNullable<AnswerNotes['window']>;

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
  const { window, status } = answer;
  const text = JSON.stringify(answer.body);
  const headers: Record<string, string | number> = {
    'content-type': 'application/json; charset=utf-8',
    'content-length': Buffer.byteLength(text),
    'cache-control': 'no-store',
    'x-content-type-options': 'nosniff',
    'referrer-policy': 'no-referrer',
    'x-request-id': answer.request_id,
    'x-ratelimit-limit': window.limit,
    'x-ratelimit-remaining': window.remaining,
    'x-ratelimit-reset': window.reset_unix,
    'ratelimit-policy': `"${answer.window_name}";q=${window.limit};w=60`,
    ratelimit: `"${answer.window_name}";r=${window.remaining};t=${window.retry_after_seconds}`,
  };
  if (status === 429) headers['retry-after'] = window.retry_after_seconds;
  if (status === 401) headers['www-authenticate'] = 'Bearer realm="postrider"';
  if (answer.replayed) headers['idempotent-replayed'] = 'true';
  if (answer.close) headers.connection = 'close';
  response.writeHead(status, headers);
  response.end(text);
}
