import type { ErrorCode } from './errors.ts';

/** The HTTP status of each error code, on every API. */
export const httpStatus = {
  invalid_request: 400,
  unauthorized: 401,
  forbidden: 403,
  not_found: 404,
  unprocessable: 422,
  rate_limited: 429,
  internal_error: 500,
} as const satisfies Record<ErrorCode, number>;
