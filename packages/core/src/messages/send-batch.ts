import { z } from 'zod';
import { AppError, errorFields, type PublicError } from '../errors.ts';
import { admittedOperation, type Parsed } from '../operation.ts';
import { issueFor, parseInput } from '../parse-input.ts';
import type { Acknowledgement, SendResult } from './accept-line.ts';
import { idempotencyOf } from './idempotency.ts';
import { type SendInput, sendSchema } from './schema.ts';
import { submit } from './submit.ts';

const MOST_MESSAGES = 100;

/** An array of messages, or an object that holds it; each message is parsed by itself, so that none spoils another. */
const batchSchema = z
  .union([z.array(z.unknown()), z.object({ messages: z.array(z.unknown()) }).transform(({ messages }) => messages)], {
    error: 'The body must be an array of messages, or an object with messages.',
  })
  .superRefine((messages, context) => {
    if (messages.length === 0)
      context.addIssue(issueFor('missing_field', 'The batch is empty; send at least one message.'));
    if (messages.length > MOST_MESSAGES) {
      const message = `The batch holds ${messages.length} messages; at most ${MOST_MESSAGES} are allowed.`;
      context.addIssue(issueFor('invalid_type', message));
    }
  });

export interface BatchAnswer {
  readonly data: readonly (Acknowledgement | { readonly error: PublicError })[];
}

/** Accepts up to a hundred messages, each accepted or refused on its own, in order; one place in the window. */
export const sendBatch = admittedOperation({
  name: 'email.batch',
  scope: 'email:send',
  input: batchSchema,
  run: (ctx, { actor, scope, parsed, raw }): Promise<BatchAnswer> =>
    submit(
      ctx,
      {
        actor,
        scope,
        messages: parsed.ok ? parsed.value.map((one): Parsed<SendInput> => parseInput(sendSchema, one)) : [parsed],
        alone: !parsed.ok,
        resend_of: null,
        idempotency: parsed.ok ? idempotencyOf(ctx, 'email.batch', raw, batchAnswer) : null,
      },
      batchAnswer,
    ),
});

function batchAnswer(results: readonly SendResult[]): BatchAnswer {
  return {
    data: results.map((result) => (result instanceof AppError ? { error: errorFields(result) } : result)),
  };
}
