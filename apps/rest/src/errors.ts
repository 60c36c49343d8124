import { AppError, errorFields } from '@postrider/core';

/** The one error shape of /v1. A fault of ours says only that, and the id under which the log tells more. */
export function errorBody(error: AppError, request_id: string, public_url: string) {
  return { error: { ...errorFields(error), request_id, docs_url: `${public_url}/errors/${error.reason}` } };
}

export function asAppError(error: unknown): AppError {
  return error instanceof AppError
    ? error
    : new AppError('unexpected', 'Something failed on our side; retry, and quote the request_id if it keeps failing.');
}
