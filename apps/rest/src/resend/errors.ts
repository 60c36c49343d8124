import type { AppError, ErrorCode, Reason } from '@postrider/core';

/** An error with the shape, names, and statuses that Resend clients expect. */
export interface ResendError {
  readonly statusCode: number;
  readonly name: string;
  readonly message: string;
}

type ErrorName = readonly [statusCode: number, name: string];

const byCode: Readonly<Record<ErrorCode, ErrorName>> = {
  invalid_request: [422, 'validation_error'],
  unauthorized: [403, 'invalid_api_key'],
  forbidden: [401, 'restricted_api_key'],
  not_found: [404, 'not_found'],
  unprocessable: [422, 'validation_error'],
  rate_limited: [429, 'rate_limit_exceeded'],
  internal_error: [500, 'internal_server_error'],
};

const byReason: Partial<Record<Reason, ErrorName>> = {
  missing_key: [401, 'missing_api_key'],
  missing_field: [422, 'missing_required_field'],
  no_content: [422, 'missing_required_field'],
  invalid_limit: [422, 'invalid_parameter'],
  invalid_cursor: [422, 'invalid_parameter'],
  invalid_idempotency_key: [400, 'invalid_idempotency_key'],
  idempotency_mismatch: [409, 'invalid_idempotent_request'],
  idempotency_in_progress: [409, 'concurrent_idempotent_requests'],
  domain_not_verified: [403, 'validation_error'],
  quota_exceeded: [429, 'monthly_quota_exceeded'],
};

export function resendError(error: AppError): ResendError {
  const [statusCode, name] = byReason[error.reason] ?? byCode[error.code];
  return { statusCode, name, message: error.message };
}
