import type { MailAddress } from '@postrider/mail';
import { z } from 'zod';
import { type Acknowledgement, acknowledgementSchema, sendMessage, sendReasons } from '../accept/index.ts';
import { absentable } from '../fields/absentable.ts';
import { idPrefixes } from '../fields/ids.ts';
import { idField } from '../fields/wire.ts';
import { accessibleMode } from '../operation/access.ts';
import { invoke, operation } from '../operation/operation.ts';
import { isKept } from '../operation/retention.ts';
import { captureNotFound, requireCaptureContent } from './capture-entry.ts';
import { captureOf } from './store.ts';

/** Sends the content of a captured message as a new message, with all the checks of a send. */
export const releaseCapture = operation({
  name: 'captures.release',
  scope: null,
  sandbox: true,
  summary: 'Send a captured email to its recipients or to other addresses (admins and sandbox keys)',
  reasons: ['missing_scope', 'capture_not_found', 'capture_unreadable', 'capture_busy', ...sendReasons],
  input: z.object({
    id: idField(idPrefixes.capture),
    to: absentable(z.union([z.string(), z.array(z.string()).min(1).max(50)])).meta({
      description: 'Recipients to use instead of the original ones.',
      examples: ['ada@example.com'],
    }),
  }),
  output: acknowledgementSchema,
  async run(ctx, { id, to }): Promise<Acknowledgement> {
    requireCaptureContent(ctx.actor);
    const sandbox_only = accessibleMode(ctx.actor) === 'sandbox';
    const row = await captureOf(ctx.sql, ctx.actor.workspace_id, id, sandbox_only);
    if (!row || !isKept(ctx, 'captures', id)) throw captureNotFound(id);
    const { from, subject, html, text, reply_to, attachments } = await ctx.captures.read(
      ctx.actor.workspace_id,
      row.raw,
    );
    const [reply] = reply_to;
    return invoke(ctx, sendMessage, {
      from: from ? mailbox(from) : row.envelope_from,
      to: to ?? row.envelope_to,
      subject,
      ...(html && { html }),
      ...(text && { text }),
      ...(!html && !text && { text: ' ' }),
      ...(reply && { reply_to: mailbox(reply) }),
      ...(attachments.length > 0 && {
        attachments: attachments.map(({ filename, content_type, content_id, content }, index) => ({
          filename: filename ?? `attachment-${index + 1}`,
          content_type,
          content: content.toString('base64'),
          ...(content_id && { content_id }),
        })),
      }),
    });
  },
});

function mailbox({ name, email }: MailAddress): string {
  return name ? `"${name.replace(/["\\]/g, '\\$&')}" <${email}>` : email;
}
