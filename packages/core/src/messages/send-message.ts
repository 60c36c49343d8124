import { AppError } from '../errors.ts';
import { admittedOperation } from '../operation.ts';
import type { Acknowledgement } from './accept-line.ts';
import { idempotencyOf } from './idempotency.ts';
import { sendSchema } from './schema.ts';

/** Accepts one message: committed with its job before this resolves. */
export const sendMessage = admittedOperation({
  name: 'email.send',
  scope: 'email:send',
  input: sendSchema,
  async run(ctx, admission): Promise<Acknowledgement> {
    const answer = await ctx.accept.submit({
      actor: admission.actor,
      scope: admission.scope,
      request_id: ctx.request_id,
      messages: [admission.parsed],
      alone: true,
      resend_of: null,
      idempotency: idempotencyOf(ctx, 'email.send', admission.raw, ([result]) => result),
    });
    ctx.notes.window = answer.window;
    if (answer.kind === 'refused') throw answer.error;
    if (answer.kind === 'replayed') {
      ctx.notes.replayed = true;
      // The stored text is what remember() made of an acknowledgement.
      return JSON.parse(answer.answer) as Acknowledgement;
    }
    const [result] = answer.results;
    if (!result || result instanceof AppError) throw result ?? new Error('a message was judged without a result');
    return result;
  },
});
