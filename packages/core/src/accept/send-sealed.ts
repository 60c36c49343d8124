import type { z } from 'zod';
import type { ActorContext } from '../operation/context.ts';
import { parseInput } from '../operation/parse-input.ts';
import { sendSchema } from './schema.ts';
import { soleRefusal, soleResult } from './send-message.ts';
import type { Acknowledgement } from './submission.ts';
import { submit } from './submit.ts';

/**
 * Sends an email of the service. Its content is unreadable in the sending workspace, and deleted after the last attempt.
 */
export function sendSealed(
  ctx: ActorContext,
  message: Omit<z.input<typeof sendSchema>, 'retain'>,
): Promise<Acknowledgement> {
  return submit(
    ctx,
    {
      actor: ctx.actor,
      scope: 'email:send',
      messages: [parseInput(sendSchema, { ...message, retain: 'none' })],
      refusal: soleRefusal,
      resend: null,
      sealed: true,
      idempotency: null,
    },
    soleResult,
  );
}
