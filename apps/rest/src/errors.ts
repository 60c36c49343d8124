import { AppError, type ErrorCode, errorFields } from '@postrider/core';

export const httpStatus: Record<ErrorCode, number> = {
  invalid_request: 400,
  unauthorized: 401,
  forbidden: 403,
  not_found: 404,
  unprocessable: 422,
  rate_limited: 429,
  internal_error: 500,
};

/** The one error shape of /v1. A fault of ours says only that, and the id under which the log tells more. */
export function errorBody(error: AppError, request_id: string, public_url: string) {
  return { error: { ...errorFields(error), request_id, docs_url: `${public_url}/errors/${error.reason}` } };
}

export function asAppError(error: unknown): AppError {
  return error instanceof AppError
    ? error
    : new AppError('unexpected', 'Something failed on our side; retry, and quote the request_id if it keeps failing.');
}
