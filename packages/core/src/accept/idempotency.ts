import type { Context } from '../operation/context.ts';
import { AppError, type Reason } from '../operation/errors.ts';
import { fingerprintOf, hasFingerprint } from './fingerprint.ts';
import type { Idempotency, SendResult } from './submission.ts';

const PRINTABLE_KEY = /^[\x21-\x7e]([\x20-\x7e]{0,253}[\x21-\x7e])?$/;

/** The errors of a request whose Idempotency-Key was used before. */
export const idempotencyReasons: readonly Reason[] = ['idempotency_mismatch', 'idempotency_in_progress'];

/**
 * Returns the error for a malformed key instead of throwing it, because a bad API key takes precedence, as it does over
 * a bad body.
 */
export function readIdempotencyKey(text: string): string | AppError {
  if (PRINTABLE_KEY.test(text)) return text;
  return new AppError('invalid_idempotency_key', 'Idempotency-Key must be 1 to 255 printable ASCII characters.');
}

/** Builds the idempotency record of a request with a key; the response is stored as JSON. */
export function idempotencyOf(
  ctx: Context,
  operation: string,
  meaning: unknown,
  answerOf: (results: readonly SendResult[]) => unknown,
): Idempotency | null {
  if (ctx.idempotency_key === null) return null;
  return {
    operation,
    key: ctx.idempotency_key,
    fingerprint: fingerprintOf(meaning),
    isSame: (stored) => hasFingerprint(meaning, stored),
    remember: (results) => JSON.stringify(answerOf(results)),
  };
}
