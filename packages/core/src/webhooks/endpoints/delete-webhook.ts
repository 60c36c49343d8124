import { z } from 'zod';
import { recordAudit } from '../../audit/index.ts';
import { idPrefixes } from '../../fields/ids.ts';
import { deletedField, idField, objectName } from '../../fields/wire.ts';
import { accessibleMode } from '../../operation/access.ts';
import { operation } from '../../operation/operation.ts';
import { waitUntilIdle } from '../deliveries/wait-until-idle.ts';
import { sendClose } from '../posting/send-close.ts';
import { deleteWebhookRow } from './store.ts';
import { webhookNotFound } from './webhook-entry.ts';

const deletedSchema = z.object({
  object: objectName('webhook'),
  id: idField(idPrefixes.webhook),
  deleted: deletedField,
});
export type DeletedWebhook = z.output<typeof deletedSchema>;

/** Deletes an endpoint; no post to it starts after the response. */
export const deleteWebhook = operation({
  name: 'webhooks.delete',
  scope: 'webhooks:manage',
  sandbox: true,
  summary: 'Delete a webhook; it receives no more events',
  reasons: ['webhook_not_found'],
  input: z.object({ id: idField(idPrefixes.webhook) }),
  output: deletedSchema,
  async run(ctx, { id }): Promise<DeletedWebhook> {
    await ctx.sql.begin(async (tx) => {
      if (!(await deleteWebhookRow(tx, ctx.actor.workspace_id, accessibleMode(ctx.actor), id)))
        throw webhookNotFound(id);
      await sendClose(ctx, tx, id);
      await recordAudit(tx, ctx, [{ action: 'webhook.deleted', target_id: id }]);
    });
    await waitUntilIdle(ctx, id);
    return { object: 'webhook', id, deleted: true };
  },
});
