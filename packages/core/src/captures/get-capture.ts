import { z } from 'zod';
import { recordAudit } from '../audit/index.ts';
import { idPrefixes } from '../fields/ids.ts';
import { idField } from '../fields/wire.ts';
import { accessibleMode } from '../operation/access.ts';
import { operation } from '../operation/operation.ts';
import { isKept } from '../operation/retention.ts';
import {
  type CaptureDetail,
  captureDetail,
  captureDetailSchema,
  captureNotFound,
  requireCaptureContent,
} from './capture-entry.ts';
import { captureOf } from './store.ts';

export const getCapture = operation({
  name: 'captures.get',
  scope: null,
  sandbox: true,
  summary: 'Get a captured email with its content, links and one-time codes (admins and sandbox keys)',
  reasons: ['missing_scope', 'capture_not_found', 'capture_unreadable', 'capture_busy'],
  input: z.object({ id: idField(idPrefixes.capture) }),
  output: captureDetailSchema,
  async run(ctx, { id }): Promise<CaptureDetail> {
    requireCaptureContent(ctx.actor);
    const sandbox_only = accessibleMode(ctx.actor) === 'sandbox';
    const row = await captureOf(ctx.sql, ctx.actor.workspace_id, id, sandbox_only);
    if (!row || !isKept(ctx, 'captures', id)) throw captureNotFound(id);
    // Not audited for sandbox keys: their messages are test messages, and tests read them often.
    if (!sandbox_only)
      await ctx.sql.begin((tx) =>
        recordAudit(tx, ctx, [
          { action: 'message.content_read', target_id: row.message_id ?? id, diff: { capture_id: id } },
        ]),
      );
    return captureDetail(row, await ctx.captures.read(ctx.actor.workspace_id, row.raw));
  },
});
