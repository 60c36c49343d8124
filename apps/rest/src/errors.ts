import { AppError } from '@postrider/core';

export function asAppError(error: unknown): AppError {
  return error instanceof AppError
    ? error
    : new AppError('unexpected', 'Internal error; retry, and quote the request_id if it keeps failing.');
}
