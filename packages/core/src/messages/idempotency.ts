import type { Context } from '../context.ts';
import { fingerprintOf } from './accept.ts';
import type { Idempotency, SendResult } from './accept-line.ts';

/** The idempotency record of a request that named a key; its answer is kept as the JSON of the outcome. */
export function idempotencyOf(
  ctx: Context,
  operation: string,
  raw: unknown,
  answerOf: (results: readonly SendResult[]) => unknown,
): Idempotency | null {
  if (ctx.idempotency_key === null) return null;
  return {
    operation,
    key: ctx.idempotency_key,
    fingerprint: fingerprintOf(raw),
    remember: (results) => JSON.stringify(answerOf(results)),
  };
}
