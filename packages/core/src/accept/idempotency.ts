import type { Context } from '../operation/context.ts';
import { fingerprintOf, hasFingerprint } from './fingerprint.ts';
import type { Idempotency, SendResult } from './submission.ts';

/** The idempotency record of a request that has a key; the answer is stored as JSON. */
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
