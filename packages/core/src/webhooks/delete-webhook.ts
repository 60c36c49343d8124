import { z } from 'zod';
import { recordAudit } from '../audit/index.ts';
import { idPrefixes } from '../ids.ts';
import { operation } from '../operation.ts';
import { modeInReach } from '../reach.ts';
import { idField } from '../wire.ts';
import { sendClose } from './send-close.ts';
import { deleteWebhookRow } from './store.ts';
import { untilQuiet } from './until-quiet.ts';
import { webhookNotFound } from './webhook-entry.ts';

const deletedSchema = z.object({
  object: z.literal('webhook'),
  id: idField(idPrefixes.webhook),
  deleted: z.literal(true),
});
export type DeletedWebhook = z.output<typeof deletedSchema>;

/** Takes an endpoint away; no post to it begins after the answer. */
export const deleteWebhook = operation({
  name: 'webhooks.delete',
  scope: 'webhooks:manage',
  summary: 'Delete a webhook; nothing is posted to it any more',
  input: z.object({ id: idField(idPrefixes.webhook) }),
  output: deletedSchema,
  async run(ctx, { id }): Promise<DeletedWebhook> {
    await ctx.sql.begin(async (tx) => {
      if (!(await deleteWebhookRow(tx, ctx.actor.workspace_id, modeInReach(ctx.actor), id))) throw webhookNotFound(id);
      await sendClose(ctx, tx, id);
      await recordAudit(tx, ctx, [{ action: 'webhook.deleted', target_id: id }]);
    });
    await untilQuiet(ctx, id);
    return { object: 'webhook', id, deleted: true };
  },
});
