import {
  AbortedError,
  ApiError,
  ConfigurationError,
  ConnectionError,
  errorOf,
  TimeoutError,
  UnexpectedAnswerError,
} from './errors.ts';
import { ListCall, type Page } from './pages.ts';

export interface CallOptions {
  /** Aborts the call, including retries and the pauses between them. */
  readonly signal?: AbortSignal | undefined;
  /** The timeout per attempt; defaults to the client's. */
  readonly timeout_ms?: number | undefined;
  /** The maximum number of retries; defaults to the client's. */
  readonly max_retries?: number | undefined;
}

export interface RepeatableOptions extends CallOptions {
  /**
   * The idempotency key, which makes retries across processes safe for 24 hours. By default each call has its own key.
   */
  readonly idempotency_key?: string | undefined;
}

/** Requests are built lazily, so that a bad argument rejects instead of throwing. */
export interface Calls {
  ask<T>(request: () => ApiRequest, options: CallOptions | undefined): Promise<T>;
  list<T>(request: () => ApiRequest, options: CallOptions | undefined): ListCall<T>;
}

export interface ApiRequest {
  readonly method: 'GET' | 'POST' | 'PATCH' | 'PUT' | 'DELETE';
  readonly path: string;
  readonly query?: object | undefined;
  readonly body?: unknown;
  /** Whether the operation accepts an Idempotency-Key. */
  readonly keyed?: boolean;
}

export interface TransportSettings {
  /** With /v1 and without a trailing slash. */
  readonly base_url: string;
  readonly key: string;
  readonly timeout_ms: number;
  readonly max_retries: number;
  readonly fetch: typeof fetch;
  readonly user_agent: string;
}

const BASE_PAUSE_MS = 500;
const MAX_PAUSE_MS = 8000;
// Rate-limit windows last a minute. A longer Retry-After has another cause, and the call fails immediately.
const MAX_RETRY_AFTER_SECONDS = 60;

export function createCalls(settings: TransportSettings): Calls {
  return {
    ask: async (request, options) => perform(settings, request(), options),
    list<T>(request: () => ApiRequest, options: CallOptions | undefined) {
      return new ListCall<T>(async (cursor) => {
        const { query, ...rest } = request();
        return perform<Page<T>>(
          settings,
          { ...rest, query: { ...query, ...(cursor !== null && { cursor }) } },
          options,
        );
      });
    },
  };
}

async function perform<T>(
  settings: TransportSettings,
  request: ApiRequest,
  options: RepeatableOptions = {},
): Promise<T> {
  const { signal, timeout_ms = settings.timeout_ms, max_retries = settings.max_retries } = options;
  // One key for all attempts, so that the service recognizes a retry.
  const idempotency_key = request.keyed ? (options.idempotency_key ?? crypto.randomUUID()) : undefined;
  for (let attempt = 0; ; attempt++) {
    if (signal?.aborted) throw aborted(signal);
    try {
      // The cast is safe because the types are generated from the service's schemas.
      return (await attemptOnce(settings, request, { signal, timeout_ms, idempotency_key })) as T;
    } catch (error) {
      const pause_ms = attempt < max_retries ? pauseBefore(error, request, attempt) : null;
      if (pause_ms === null) throw error;
      await pause(pause_ms, signal);
    }
  }
}

interface Attempt {
  readonly signal: AbortSignal | undefined;
  readonly timeout_ms: number;
  readonly idempotency_key: string | undefined;
}

async function attemptOnce(settings: TransportSettings, request: ApiRequest, attempt: Attempt): Promise<unknown> {
  const { base_url, key, user_agent } = settings;
  const { signal, timeout_ms, idempotency_key } = attempt;
  const timeout = AbortSignal.timeout(timeout_ms);
  const { fetch: send } = settings;
  let response: Response;
  let text: string;
  try {
    response = await send(base_url + request.path + queryText(request.query), {
      method: request.method,
      headers: {
        authorization: `Bearer ${key}`,
        accept: 'application/json',
        'user-agent': user_agent,
        ...(request.body !== undefined && { 'content-type': 'application/json' }),
        ...(idempotency_key !== undefined && { 'idempotency-key': idempotency_key }),
      },
      ...(request.body !== undefined && { body: JSON.stringify(request.body) }),
      // A redirected POST would arrive as a GET, and the key might be sent to another host.
      redirect: 'manual',
      signal: signal ? AbortSignal.any([signal, timeout]) : timeout,
    });
    text = await response.text();
  } catch (error) {
    if (signal?.aborted) throw aborted(signal);
    if (timeout.aborted) {
      const message = `${base_url} did not answer in ${timeout_ms} ms.`;
      throw new TimeoutError({ reason: 'timeout', message, cause: error });
    }
    throw new ConnectionError({
      reason: 'unreachable',
      message: `No response from ${base_url}: ${causeOf(error)}.`,
      cause: error,
    });
  }
  return read(base_url, response, text);
}

function read(base_url: string, response: Response, text: string): unknown {
  const body = parsed(text);
  if (response.ok && body !== undefined) return body;
  const error = errorOf(response.status, body, retryAfter(response));
  if (error) throw error;
  const location = response.headers.get('location');
  throw new UnexpectedAnswerError(
    response.status,
    location === null
      ? `${base_url} answered ${response.status} with something that is not from Postrider; check the address, and any proxy in between.`
      : `${base_url} redirects to another address; set the client to the final one.`,
  );
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function retryAfter(response: Response): number | null {
  const text = response.headers.get('retry-after');
  return text !== null && /^\d{1,6}$/.test(text) ? Number(text) : null;
}

/**
 * Returns how long to wait before the next attempt, or null if a retry would not help or might repeat the operation.
 */
function pauseBefore(error: unknown, request: ApiRequest, attempt: number): number | null {
  const status = error instanceof ApiError || error instanceof UnexpectedAnswerError ? error.status : null;
  const repeatable = request.method !== 'POST' || request.keyed === true;
  const passing =
    error instanceof ConnectionError ||
    (status !== null && status >= 500) ||
    // The previous attempt is still in progress; a retry gets its response.
    (error instanceof ApiError && error.reason === 'idempotency_in_progress');
  // A rate-limited request was not carried out, so even a POST without a key may be retried.
  if (status !== 429 && !(passing && repeatable)) return null;
  const seconds = error instanceof ApiError ? error.retry_after_seconds : null;
  if (seconds !== null) return seconds <= MAX_RETRY_AFTER_SECONDS ? seconds * 1000 : null;
  const max = Math.min(MAX_PAUSE_MS, BASE_PAUSE_MS * 2 ** attempt);
  // Half of the pause is random, so that clients that failed together do not retry together.
  return max / 2 + Math.random() * (max / 2);
}

function pause(pause_ms: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    const end = () => {
      clearTimeout(timer);
      if (signal) reject(aborted(signal));
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener('abort', end);
      resolve();
    }, pause_ms);
    signal?.addEventListener('abort', end, { once: true });
  });
}

function aborted(signal: AbortSignal): AbortedError {
  return new AbortedError({ reason: 'aborted', message: 'The call was aborted.', cause: signal.reason });
}

/** Returns the cause of an error. Prefers the system's message, because the message of a failed fetch says little. */
function causeOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const { cause } = error;
  if (cause instanceof Error)
    return 'code' in cause && cause.code ? String(cause.code) : cause.message || error.message;
  return error.message;
}

function queryText(query: object | undefined): string {
  const pairs = Object.entries(query ?? {}).flatMap(([name, value]): [string, string][] => {
    if (value === undefined || value === null) return [];
    return (Array.isArray(value) ? value : [value]).map((one) => [name, String(one)]);
  });
  return pairs.length > 0 ? `?${new URLSearchParams(pairs)}` : '';
}

/** Builds a path with its parameters. Rejects empty values, and dots, which would lead to another route. */
export function pathOf(parts: readonly string[], ...values: readonly string[]): string {
  return values.reduce((path, value, index) => {
    if (typeof value !== 'string' || value === '' || value === '.' || value === '..') {
      throw new ConfigurationError({
        reason: 'invalid_argument',
        message: `${JSON.stringify(value)} is no id or name.`,
      });
    }
    return path + encodeURIComponent(value) + (parts[index + 1] ?? '');
  }, parts[0] ?? '');
}
