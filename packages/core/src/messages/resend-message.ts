import { z } from 'zod';
import { draftAudit } from '../audit/index.ts';
import { idPrefixes } from '../ids.ts';
import { operation } from '../operation.ts';
import { parseInput } from '../parse-input.ts';
import { mailInReach } from '../reach.ts';
import { idField } from '../wire.ts';
import { type Acknowledgement, acknowledgementSchema } from './accept-line.ts';
import { findContent } from './find-content.ts';
import { messageNotFound } from './get-message.ts';
import { idempotencyOf } from './idempotency.ts';
import type { ContentRow } from './log-store.ts';
import { sendSchema } from './schema.ts';
import { soleResult } from './send-message.ts';
import { submit } from './submit.ts';

/** Sends a message anew, as a message of its own that names the old one; every check is made again. */
export const resendMessage = operation({
  name: 'email.resend',
  scope: 'email:send',
  summary: 'Send an email again, as a new one that is linked to it',
  input: z.object({ id: idField(idPrefixes.message) }),
  output: acknowledgementSchema,
  async run(ctx, { id }): Promise<Acknowledgement> {
    if (!(await mailInReach(ctx, [id])).has(id)) throw messageNotFound(id);
    const content = await findContent(ctx.sql, ctx.actor.workspace_id, id);
    return submit(
      ctx,
      {
        actor: ctx.actor,
        scope: 'email:send',
        messages: [parseInput(sendSchema, asSent(content))],
        alone: true,
        resend: {
          message_id: id,
          audit: (resent_as) => draftAudit(ctx, [{ action: 'message.resent', target_id: id, diff: { resent_as } }]),
        },
        idempotency: idempotencyOf(ctx, 'email.resend', { id }, ([result]) => result),
      },
      soleResult,
    );
  },
});

/** The body of the request that had sent it; a time that it was scheduled for is not part of it. */
function asSent(content: ContentRow): Readonly<Record<string, unknown>> {
  return {
    from: content.from_address,
    to: content.to_addresses,
    cc: content.cc_addresses,
    bcc: content.bcc_addresses,
    ...(content.reply_to !== null && { reply_to: content.reply_to }),
    subject: content.subject,
    ...(content.html !== null && { html: content.html }),
    ...(content.text !== null && { text: content.text }),
    headers: JSON.parse(content.headers),
    tags: content.tags,
    metadata: JSON.parse(content.metadata),
    attachments: JSON.parse(content.attachments),
  };
}
