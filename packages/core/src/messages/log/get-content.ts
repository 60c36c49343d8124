import { z } from 'zod';
import { decodedLength } from '../../accept/index.ts';
import { recordAudit } from '../../audit/index.ts';
import { renderMessage, storedAttachments } from '../../delivery/index.ts';
import { idPrefixes } from '../../fields/ids.ts';
import { idField, objectName } from '../../fields/wire.ts';
import { accessibleMail } from '../../operation/access.ts';
import { operation } from '../../operation/operation.ts';
import { findContent } from './find-content.ts';
import { messageNotFound } from './get-message.ts';

const contentSchema = z.object({
  object: objectName('email_content'),
  id: idField(idPrefixes.message),
  html: z.string().nullable().meta({ description: 'The HTML body. null: none.' }),
  text: z.string().nullable().meta({ description: 'The plain-text body. null: none.' }),
  headers: z.record(z.string(), z.string()).readonly().meta({ description: 'The custom headers.' }),
  attachments: z
    .array(
      z.object({
        filename: z.string().meta({ description: 'As given in the request.' }),
        content_type: z
          .string()
          .nullable()
          .meta({ description: 'As given in the request; null if derived from the filename.' }),
        content_id: z.string().nullable().meta({ description: 'Referenced as cid:… in html. null: none.' }),
        size_bytes: z.int().meta({ description: 'Decoded size.' }),
      }),
    )
    .readonly()
    .meta({ description: 'The attachments, without their content.' }),
  raw: z.string().meta({ description: 'The MIME source sent to every recipient, before signing.' }),
});
export type EmailContent = z.output<typeof contentSchema>;

/** Returns the content of a message. Lists never show it, because it may be confidential. */
export const getContent = operation({
  name: 'email.content',
  scope: 'admin',
  sandbox: true,
  summary: 'Get the content of an email: html, text, headers and raw source',
  reasons: ['message_not_found', 'content_gone'],
  input: z.object({ id: idField(idPrefixes.message) }),
  output: contentSchema,
  async run(ctx, { id }): Promise<EmailContent> {
    if (!(await accessibleMail(ctx, [id])).has(id)) throw messageNotFound(id);
    const content = await ctx.sql.begin(async (tx) => {
      const row = await findContent(tx, ctx, ctx.actor.workspace_id, id);
      await recordAudit(tx, ctx, [{ action: 'message.content_read', target_id: id }]);
      return row;
    });
    return {
      object: 'email_content',
      id,
      html: content.html,
      text: content.text,
      // The cast is safe because the stored headers were serialized from a value that the send schema accepted.
      headers: JSON.parse(content.headers) as Record<string, string>,
      attachments: storedAttachments(content).map(({ filename, content: base64, content_type, content_id }) => ({
        filename,
        content_type: content_type ?? null,
        content_id: content_id ?? null,
        size_bytes: decodedLength(base64),
      })),
      // Rendered only when read, because the rendered email takes as much memory again, which may be several megabytes.
      get raw() {
        return renderMessage(content).toString('utf8');
      },
    };
  },
});
