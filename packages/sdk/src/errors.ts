import type { ErrorAnswer, Reason } from './generated/schemas.ts';

type Refusal = ErrorAnswer['error'];
export type ErrorDetail = NonNullable<Refusal['details']>[number];

interface ErrorFacts {
  readonly reason: string;
  readonly message: string;
  readonly cause?: unknown;
}

/** Every error that this package throws on purpose. Branch on `reason` or on the class. */
export class PostriderError extends Error {
  /** Machine-readable; the service explains its own reasons at /errors/<reason>. */
  readonly reason: Reason;

  constructor({ reason, message, cause }: ErrorFacts) {
    super(message, cause === undefined ? undefined : { cause });
    this.name = new.target.name;
    this.reason = reason;
  }
}

/** The client or an argument is invalid; nothing was sent. */
export class ConfigurationError extends PostriderError {}

/** A webhook request could not be verified as coming from Postrider. */
export class WebhookVerificationError extends PostriderError {}

/** There was no response: the request may or may not have arrived. */
export class ConnectionError extends PostriderError {}

/** There was no response within `timeout_ms`. */
export class TimeoutError extends ConnectionError {}

/** The caller's signal aborted the call. The name is AbortError, following the platform. */
export class AbortedError extends PostriderError {
  constructor(facts: ErrorFacts) {
    super(facts);
    this.name = 'AbortError';
  }
}

/** The response did not come from Postrider, but for example from a proxy. */
export class UnexpectedAnswerError extends PostriderError {
  readonly status: number;

  constructor(status: number, message: string) {
    super({ reason: 'unexpected_answer', message });
    this.status = status;
  }
}

/** Postrider rejected the request. */
export class ApiError extends PostriderError {
  readonly status: number;
  readonly code: Refusal['code'];
  /** All invalid fields, not just the first. */
  readonly details: readonly ErrorDetail[];
  /** The id to include in support requests. */
  readonly request_id: string;
  readonly docs_url: string;
  /** How many seconds to wait; null if the response does not say. */
  readonly retry_after_seconds: number | null;
  /** Additional fields of the response, such as `required_scope`, `limit` or `resets_at`. */
  readonly facts: Readonly<Record<string, unknown>>;

  constructor(status: number, refusal: Refusal, retry_after_seconds: number | null) {
    const { code, reason, message, details, request_id, docs_url, ...facts } = refusal;
    super({ reason, message });
    this.status = status;
    this.code = code;
    this.details = details ?? [];
    this.request_id = request_id;
    this.docs_url = docs_url;
    this.retry_after_seconds = retry_after_seconds;
    this.facts = facts;
  }
}

export class InvalidRequestError extends ApiError {}
export class UnauthorizedError extends ApiError {}
export class ForbiddenError extends ApiError {}
export class NotFoundError extends ApiError {}
export class UnprocessableError extends ApiError {}
export class RateLimitedError extends ApiError {}
export class InternalError extends ApiError {}

const classes: Readonly<Record<string, typeof ApiError>> = {
  invalid_request: InvalidRequestError,
  unauthorized: UnauthorizedError,
  forbidden: ForbiddenError,
  not_found: NotFoundError,
  unprocessable: UnprocessableError,
  rate_limited: RateLimitedError,
  internal_error: InternalError,
};

/** Returns the error that a response describes, or null if the response is not from Postrider. */
export function errorOf(status: number, body: unknown, retry_after_seconds: number | null): ApiError | null {
  if (!isErrorAnswer(body)) return null;
  const { code } = body.error;
  const Class = (Object.hasOwn(classes, code) && classes[code]) || ApiError;
  return new Class(status, body.error, retry_after_seconds);
}

function isErrorAnswer(body: unknown): body is ErrorAnswer {
  if (typeof body !== 'object' || body === null || !('error' in body)) return false;
  const { error } = body;
  if (typeof error !== 'object' || error === null) return false;
  const fields = ['code', 'reason', 'message'] as const;
  return fields.every((name) => name in error && typeof Reflect.get(error, name) === 'string');
}

export type Result<T> =
  | { readonly data: T; readonly error: null }
  | { readonly data: null; readonly error: PostriderError };

/** Returns the result of a call as a value: `const { data, error } = await safe(postrider.email.send(…))`. */
export async function safe<T>(call: PromiseLike<T>): Promise<Result<T>> {
  try {
    return { data: await call, error: null };
  } catch (error) {
    if (error instanceof PostriderError) return { data: null, error };
    throw error;
  }
}
