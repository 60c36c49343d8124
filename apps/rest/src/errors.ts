import { AppError, errorFields } from '@postrider/core';

/** The one error shape of /v1. An internal error names only the request id, by which the log has more. */
export function errorBody(error: AppError, request_id: string, public_url: string) {
  return { error: { ...errorFields(error), request_id, docs_url: `${public_url}/errors/${error.reason}` } };
}

export function asAppError(error: unknown): AppError {
  return error instanceof AppError
    ? error
    : new AppError('unexpected', 'Internal error; retry, and quote the request_id if it keeps failing.');
}
