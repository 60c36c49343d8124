import type { IncomingMessage } from 'node:http';
import { AppError } from '@postrider/core';

const PRINTABLE_KEY = /^[\x21-\x7e]([\x20-\x7e]{0,253}[\x21-\x7e])?$/;

/** A malformed key is returned, not thrown: like a bad body, it must lose to a bad API key. */
export function readIdempotencyKey(request: IncomingMessage): string | AppError | null {
  const header = request.headers['idempotency-key'];
  if (header === undefined) return null;
  const key = String(header);
  if (PRINTABLE_KEY.test(key)) return key;
  return new AppError('invalid_idempotency_key', 'Idempotency-Key must be 1 to 255 printable ASCII characters.');
}
