import { z } from 'zod';
import { AppError, errorFields, publicErrorSchema } from '../operation/errors.ts';
import { admittedOperation, type Parsed } from '../operation/operation.ts';
import { issueFor, parseInput } from '../operation/parse-input.ts';
import { refuseMisplaced } from '../operation/unexpected-names.ts';
import { idempotencyOf } from './idempotency.ts';
import { misplacedInSend, type SendInput, sendSchema } from './schema.ts';
import { sendReasons, soleRefusal } from './send-message.ts';
import { acknowledgementSchema, type SendResult } from './submission.ts';
import { submit } from './submit.ts';

const MAX_MESSAGES = 100;

// The $ref is for the docs; each message is parsed separately, so anything is allowed here.
const anyMessage = z.unknown().meta({ $ref: '#/$defs/SendRequest' });
const messageList = z.array(anyMessage).meta({ minItems: 1, maxItems: MAX_MESSAGES });

/**
 * An array of messages, or an object that contains the array. Messages are parsed separately, so that an invalid
 * message does not reject the others.
 */
const batchSchema = refuseMisplaced(
  z
    .union(
      [
        messageList.transform((messages) => ({ messages, all_or_nothing: false })),
        z.object({
          messages: messageList.meta({ description: 'The emails, each as in POST /v1/email/send.' }),
          all_or_nothing: z
            .boolean({ error: 'all_or_nothing must be true or false.' })
            .nullish()
            .transform((value) => value ?? false)
            .meta({ description: 'If one message is rejected, the whole batch is rejected and nothing is sent.' }),
        }),
      ],
      { error: 'The body must be an array of messages, or an object with messages.' },
    )
    .superRefine(({ messages }, context) => {
      if (messages.length === 0)
        context.addIssue(issueFor('missing_field', 'The batch is empty. Add at least one message.'));
      if (messages.length > MAX_MESSAGES) {
        const message = `The batch has ${messages.length} messages. The maximum is ${MAX_MESSAGES}.`;
        context.addIssue(issueFor('invalid_type', message));
      }
    }),
  misplacedInSend,
);

const batchAnswerSchema = z.object({
  data: z
    .array(z.union([acknowledgementSchema, z.object({ error: publicErrorSchema })]))
    .readonly()
    .meta({ description: 'One result per email, in the order of the request.' }),
});
export type BatchResponse = z.output<typeof batchAnswerSchema>;

/**
 * Accepts or rejects up to a hundred messages, either individually and in order or all in one commit; counts as one
 * request in the window.
 */
export const sendBatch = admittedOperation({
  name: 'email.batch',
  scope: 'email:send',
  summary: 'Send up to 100 emails, accepted or rejected individually or as a whole',
  reasons: sendReasons,
  input: batchSchema,
  output: batchAnswerSchema,
  run: (ctx, { actor, scope, parsed, raw }): Promise<BatchResponse> => {
    const { all_or_nothing, messages: raw_messages } = parsed.ok
      ? parsed.value
      : { all_or_nothing: false, messages: [] };
    const messages = raw_messages.map((one) => parseInput(sendSchema, one));
    const meanings = messages.map(meaningOf);
    const meaning = all_or_nothing ? { all_or_nothing, messages: meanings } : meanings;
    const list = Array.isArray(raw) ? '' : 'messages';
    const ignored = messages.flatMap((message, index) => message.ignored.map((name) => `${list}[${index}].${name}`));
    ctx.notes.ignored_fields = [...ctx.notes.ignored_fields, ...ignored];
    return submit(
      ctx,
      {
        actor,
        scope,
        messages: parsed.ok ? messages : [parsed],
        refusal: parsed.ok ? (all_or_nothing ? firstRefusal : () => null) : soleRefusal,
        resend: null,
        idempotency: parsed.ok ? idempotencyOf(ctx, 'email.batch', meaning, batchAnswer) : null,
      },
      batchAnswer,
    );
  },
});

/** Stands in for a rejected message, which has no parsed input. */
function meaningOf(message: Parsed<SendInput>): unknown {
  return message.ok ? message.value : { refused: errorFields(message.error) };
}

/** Returns the reason of the first rejected message, with the details of all. */
function firstRefusal(refusals: readonly (AppError | null)[]): AppError | null {
  const rejected = refusals.flatMap((error, index) => (error ? [{ error, index }] : []));
  const [first] = rejected;
  if (!first) return null;
  const details = rejected.flatMap(({ error: { reason, message, facts }, index }) => {
    const own = facts.details?.map((detail) => ({ ...detail, param: `messages[${index}].${detail.param}` }));
    return own ?? [{ param: `messages[${index}]`, reason, message }];
  });
  const message = `messages[${first.index}]: ${first.error.message}`;
  return new AppError(first.error.reason, message, { ...first.error.facts, details });
}

function batchAnswer(results: readonly SendResult[]): BatchResponse {
  return {
    data: results.map((result) => (result instanceof AppError ? { error: errorFields(result) } : result)),
  };
}
