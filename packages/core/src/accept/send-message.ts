import type { Context } from '../operation/context.ts';
import { AppError, type Reason } from '../operation/errors.ts';
import { admittedOperation } from '../operation/operation.ts';
import { idempotencyOf, idempotencyReasons } from './idempotency.ts';
import { judgedReasons } from './judge.ts';
import { contentReasons, type SendInput, sendSchema } from './schema.ts';
import { type Acknowledgement, acknowledgementSchema, type SendResult } from './submission.ts';
import { submit } from './submit.ts';

export const sendReasons: readonly Reason[] = [...contentReasons, ...judgedReasons, ...idempotencyReasons];

/** Accepts one message; it is committed with its job before this resolves. */
export const sendMessage = admittedOperation({
  name: 'email.send',
  scope: 'email:send',
  summary: 'Send one email, now or scheduled',
  reasons: sendReasons,
  input: sendSchema,
  output: acknowledgementSchema,
  run: (ctx, { actor, scope, parsed }): Promise<Acknowledgement> =>
    submit(
      ctx,
      {
        actor,
        scope,
        messages: [parsed],
        refusal: soleRefusal,
        resend: null,
        idempotency: parsed.ok
          ? idempotencyOf(ctx, 'email.send', meaningOf(ctx, parsed.value), ([result]) => result)
          : null,
      },
      soleResult,
    ),
});

/**
 * Returns the part of a message that a fingerprint covers. A mail client that resends over SMTP writes a new Message-ID
 * but means the same message, so the Message-ID is left out.
 */
function meaningOf({ via }: Context, message: SendInput): SendInput {
  if (via !== 'smtp') return message;
  const { message_id: _, ...metadata }: Readonly<Record<string, string>> = message.metadata;
  return { ...message, metadata };
}

/** Returns the error of a message that is the whole request. */
export function soleRefusal([refusal]: readonly (AppError | null)[]): AppError | null {
  return refusal ?? null;
}

export function soleResult([result]: readonly SendResult[]): Acknowledgement {
  if (!result || result instanceof AppError) throw result ?? new Error('a message was judged without a result');
  return result;
}
