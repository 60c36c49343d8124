import { z } from 'zod';
import { recordAudit } from '../audit/index.ts';
import { renderMessage, storedAttachments } from '../delivery/index.ts';
import { idPrefixes } from '../ids.ts';
import { operation } from '../operation.ts';
import { mailInReach } from '../reach.ts';
import { idField } from '../wire.ts';
import { decodedLength } from './attachment-field.ts';
import { findContent } from './find-content.ts';
import { messageNotFound } from './get-message.ts';

const contentSchema = z.object({
  object: z.literal('email_content'),
  id: idField(idPrefixes.message),
  html: z.string().nullable(),
  text: z.string().nullable(),
  headers: z.record(z.string(), z.string()).readonly().meta({ description: 'The custom headers.' }),
  attachments: z
    .array(
      z.object({
        filename: z.string(),
        content_type: z
          .string()
          .nullable()
          .meta({ description: 'As it was given; null: it follows from the filename.' }),
        content_id: z.string().nullable(),
        size_bytes: z.int(),
      }),
    )
    .readonly(),
  raw: z.string().meta({ description: 'The MIME that every recipient is sent, before it is signed.' }),
});
export type EmailContent = z.output<typeof contentSchema>;

/** What a message says. Bodies may hold what only its reader should see, so lists never show them. */
export const getContent = operation({
  name: 'email.content',
  scope: 'admin',
  summary: 'What an email says: html, text, headers, raw',
  input: z.object({ id: idField(idPrefixes.message) }),
  output: contentSchema,
  async run(ctx, { id }): Promise<EmailContent> {
    if (!(await mailInReach(ctx, [id])).has(id)) throw messageNotFound(id);
    const content = await ctx.sql.begin(async (tx) => {
      const found = await findContent(tx, ctx.actor.workspace_id, id);
      await recordAudit(tx, ctx, [{ action: 'message.content_read', target_id: id }]);
      return found;
    });
    return {
      object: 'email_content',
      id,
      html: content.html,
      text: content.text,
      // Stored as JSON of what the send schema had let through.
      headers: JSON.parse(content.headers) as Record<string, string>,
      attachments: storedAttachments(content).map(({ filename, content: base64, content_type, content_id }) => ({
        filename,
        content_type: content_type ?? null,
        content_id: content_id ?? null,
        size_bytes: decodedLength(base64),
      })),
      raw: renderMessage(content).toString('utf8'),
    };
  },
});
