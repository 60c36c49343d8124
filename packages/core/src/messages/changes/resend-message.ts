import { z } from 'zod';
import {
  type Acknowledgement,
  acknowledgementSchema,
  idempotencyOf,
  idempotencyReasons,
  judgedReasons,
  sendSchema,
  soleRefusal,
  soleResult,
  submit,
} from '../../accept/index.ts';
import { draftAudit } from '../../audit/index.ts';
import { idPrefixes } from '../../fields/ids.ts';
import { idField } from '../../fields/wire.ts';
import { accessibleMail } from '../../operation/access.ts';
import { operation } from '../../operation/operation.ts';
import { parseInput } from '../../operation/parse-input.ts';
import { findContent } from '../log/find-content.ts';
import { messageNotFound } from '../log/get-message.ts';
import type { ContentRow } from '../log/log-store.ts';

/** Sends a copy as a new message that links to the original. All checks run again. */
export const resendMessage = operation({
  name: 'email.resend',
  scope: 'email:send',
  sandbox: true,
  summary: 'Resend an email as a new one that references the original',
  reasons: ['message_not_found', 'content_gone', ...judgedReasons, ...idempotencyReasons],
  input: z.object({ id: idField(idPrefixes.message) }),
  output: acknowledgementSchema,
  async run(ctx, { id }): Promise<Acknowledgement> {
    if (!(await accessibleMail(ctx, [id])).has(id)) throw messageNotFound(id);
    const content = await findContent(ctx.sql, ctx, ctx.actor.workspace_id, id);
    return submit(
      ctx,
      {
        actor: ctx.actor,
        scope: 'email:send',
        messages: [parseInput(sendSchema, asSent(content))],
        refusal: soleRefusal,
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

/** Returns the original request body without scheduled_at. */
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
    priority: content.priority,
    retain: content.retain,
    attachments: JSON.parse(content.attachments),
  };
}
