import { AppError } from '@postrider/core';

export function asAppError(error: unknown): AppError {
  return error instanceof AppError
    ? error
    : new AppError('unexpected', 'Internal error. Retry, and include the request_id if you report it.');
}
