import { hash, randomBytes } from 'node:crypto';
import { z } from 'zod';
import { recordAudit } from '../../audit/index.ts';
import { renderMessage, storedAttachments } from '../../delivery/index.ts';
import { isoTime } from '../../fields/clock.ts';
import { idPrefixes } from '../../fields/ids.ts';
import { idField, objectName, timeField } from '../../fields/wire.ts';
import { accessibleMail } from '../../operation/access.ts';
import type { Services } from '../../operation/context.ts';
import { AppError } from '../../operation/errors.ts';
import { operation } from '../../operation/operation.ts';
import { insertContentLink, returnContentLink, takeContentLink } from './content-link-store.ts';
import { findContent } from './find-content.ts';
import { messageNotFound } from './get-message.ts';

const LIFETIME_SECONDS = 300;

/**
 * Creates a link that a browser can open without a header. It works once, within five minutes, and is recorded in the
 * audit log.
 */
export const createContentLink = operation({
  name: 'email.content_link',
  scope: 'admin',
  sandbox: true,
  summary: 'Create a one-time link to the source of an email or to an attachment, valid for five minutes',
  input: z.object({
    id: idField(idPrefixes.message),
    attachment: z
      .int()
      .min(0)
      .max(1000)
      .optional()
      .meta({ description: 'The attachment index, from 0. Default: the source.' }),
  }),
  output: z.object({ object: objectName('content_link'), url: z.string(), expires_at: timeField }),
  async run(ctx, { id, attachment = null }) {
    const { workspace_id } = ctx.actor;
    if (!(await accessibleMail(ctx, [id])).has(id)) throw messageNotFound(id);
    const token = randomBytes(32).toString('base64url');
    const expires_at = await ctx.sql.begin(async (tx) => {
      const content = await findContent(tx, ctx, workspace_id, id);
      if (attachment !== null && !storedAttachments(content)[attachment])
        throw new AppError('content_gone', `${id} has no attachment ${attachment}. Indexes start at 0.`);
      await recordAudit(tx, ctx, [{ action: 'message.content_read', target_id: id, diff: { link: true, attachment } }]);
      const link = { token_hash: hashOf(token), workspace_id, message_id: id, attachment };
      return insertContentLink(tx, { ...link, seconds: LIFETIME_SECONDS });
    });
    return {
      object: 'content_link' as const,
      url: `${ctx.public_url}/content/${token}`,
      expires_at: isoTime(expires_at),
    };
  },
});

export interface LinkedContent {
  readonly filename: string;
  readonly content_type: string;
  readonly bytes: Buffer;
  /** Makes the link usable again until it expires, after an interrupted download. */
  giveBack(): Promise<void>;
}

/** Returns the content a link leads to; null if the link was used or has expired, or the content was deleted. */
export async function openContentLink(
  services: Pick<Services, 'sql' | 'config' | 'clock'>,
  token: string,
): Promise<LinkedContent | null> {
  const link = await takeContentLink(services.sql, hashOf(token));
  if (!link) return null;
  const giveBack = () => returnContentLink(services.sql, link);
  const { workspace_id, message_id, attachment } = link;
  const content = await findContent(services.sql, services, workspace_id, message_id).catch(async (error: unknown) => {
    if (error instanceof AppError) return null;
    await giveBack();
    throw error;
  });
  if (!content) return null;
  if (attachment === null)
    return { filename: `${message_id}.eml`, content_type: 'message/rfc822', bytes: renderMessage(content), giveBack };
  const file = storedAttachments(content)[attachment];
  if (!file) return null;
  const { filename, content: base64, content_type } = file;
  return {
    filename,
    content_type: content_type ?? 'application/octet-stream',
    bytes: Buffer.from(base64, 'base64'),
    giveBack,
  };
}

function hashOf(token: string): Buffer {
  return hash('sha256', token, 'buffer');
}
