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

/** What tRPC itself refuses, before any procedure runs; whatever is not named here is a fault of ours. */
const ownRefusals: Partial<Record<TRPC_ERROR_CODE_KEY, readonly [Reason, string]>> = {
  NOT_FOUND: ['route_not_found', 'There is no such procedure.'],
  METHOD_NOT_SUPPORTED: ['route_not_found', 'A query is asked by GET and a mutation by POST.'],
  PARSE_ERROR: ['malformed_json', 'The input is not JSON.'],
  BAD_REQUEST: [
    'malformed_request',
    'This is no call as tRPC makes it: an input is JSON, and a batch holds at most 10.',
  ],
  UNSUPPORTED_MEDIA_TYPE: ['unsupported_media_type', 'Send the input as application/json.'],
};

/** What went wrong, as everybody may see it: a refusal in its own words, and anything else as nothing but our fault. */
export function publicError(error: unknown): AppError {
  if (error instanceof AppError) return error;
  if (error instanceof TRPCError) {
    if (error.cause instanceof AppError) return error.cause;
    const refusal = ownRefusals[error.code];
    if (refusal) return new AppError(...refusal);
  }
  return new AppError(
    'unexpected',
    'Something failed on our side; try again, and quote the request_id if it keeps failing.',
  );
}

export interface ErrorData extends Omit<PublicError, 'message'> {
  readonly request_id: string;
  readonly docs_url: string;
}

/** The fields of an error as every face shows them; the message stands beside them. */
export function errorData(
  error: AppError,
  about: { readonly request_id: string; readonly public_url: string },
): ErrorData {
  const { message: _, ...fields } = errorFields(error);
  return { ...fields, request_id: about.request_id, docs_url: `${about.public_url}/errors/${error.reason}` };
}
