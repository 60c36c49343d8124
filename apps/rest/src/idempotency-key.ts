import type { IncomingMessage } from 'node:http';
import type { AppError } from '@postrider/core';
import { readIdempotencyKey } from '@postrider/core/accept';

/** Returns a request's Idempotency-Key, or null if it has none. */
export function idempotencyKeyOf(request: IncomingMessage): string | AppError | null {
  const header = request.headers['idempotency-key'];
  return header === undefined ? null : readIdempotencyKey(String(header));
}
