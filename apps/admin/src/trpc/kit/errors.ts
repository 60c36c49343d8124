import { AppError, type ErrorCode, errorFields, type PublicError, type Reason } from '@postrider/core';
import { TRPCError } from '@trpc/server';
import type { TRPC_ERROR_CODE_KEY } from '@trpc/server/rpc';

export const trpcCode: Record<ErrorCode, TRPC_ERROR_CODE_KEY> = {
  invalid_request: 'BAD_REQUEST',
  unauthorized: 'UNAUTHORIZED',
  forbidden: 'FORBIDDEN',
  not_found: 'NOT_FOUND',
  unprocessable: 'UNPROCESSABLE_CONTENT',
  rate_limited: 'TOO_MANY_REQUESTS',
  internal_error: 'INTERNAL_SERVER_ERROR',
};

/** Errors from tRPC itself, before a procedure runs. Any other code is an internal error. */
const ownRefusals: Partial<Record<TRPC_ERROR_CODE_KEY, readonly [Reason, string]>> = {
  NOT_FOUND: ['route_not_found', 'No such procedure.'],
  METHOD_NOT_SUPPORTED: ['route_not_found', 'Use GET for queries and POST for mutations.'],
  PARSE_ERROR: ['malformed_json', 'The input is not JSON.'],
  BAD_REQUEST: ['malformed_request', 'Not a valid tRPC call: send the input as JSON and at most 10 calls in a batch.'],
  UNSUPPORTED_MEDIA_TYPE: ['unsupported_media_type', 'Send the input as application/json.'],
};

/**
 * Returns the error as the caller may see it: an AppError unchanged, anything else as an internal error without
 * details.
 */
export function publicError(error: unknown): AppError {
  if (error instanceof AppError) return error;
  if (error instanceof TRPCError) {
    if (error.cause instanceof AppError) return error.cause;
    const refusal = ownRefusals[error.code];
    if (refusal) return new AppError(...refusal);
  }
  return new AppError('unexpected', 'Internal error. Retry, and include the request_id if you report it.');
}

export interface ErrorData extends Omit<PublicError, 'message'> {
  readonly request_id: string;
  readonly docs_url: string;
}

/** Returns the public fields of an error, without the message. */
export function errorData(
  error: AppError,
  context: { readonly request_id: string; readonly public_url: string },
): ErrorData {
  const { message: _, ...fields } = errorFields(error);
  return { ...fields, request_id: context.request_id, docs_url: `${context.public_url}/errors/${error.reason}` };
}
