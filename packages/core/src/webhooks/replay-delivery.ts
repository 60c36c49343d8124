import { z } from 'zod';
import { recordAudit } from '../audit/index.ts';
import { idPrefixes } from '../ids.ts';
import { operation } from '../operation.ts';
import { idField } from '../wire.ts';
import {
  deliveryNotFound,
  type WebhookDeliveryEntry,
  webhookDeliveryEntry,
  webhookDeliverySchema,
} from './delivery-entry.ts';
import { replayRow } from './delivery-store.ts';
import { requireEnabled } from './require-enabled.ts';
import { sendDeliver } from './send-deliver.ts';

/** Posts an event again, under the same webhook-id: to the receiver it is one that came twice. */
export const replayWebhookDelivery = operation({
  name: 'webhooks.replay',
  scope: 'webhooks:manage',
  summary: 'Post a delivery again, under the same webhook-id',
  input: z.object({ id: idField(idPrefixes.webhook), delivery_id: idField(idPrefixes.webhook_delivery) }),
  output: webhookDeliverySchema,
  async run(ctx, { id, delivery_id }): Promise<WebhookDeliveryEntry> {
    await requireEnabled(ctx, id);
    const { workspace_id } = ctx.actor;
    const row = await ctx.sql.begin(async (tx) => {
      const begun = await replayRow(tx, workspace_id, id, delivery_id);
      if (!begun) throw deliveryNotFound(delivery_id);
      await sendDeliver(ctx, tx, workspace_id, id);
      const diff = { webhook_id: id, event_id: begun.event_id };
      await recordAudit(tx, ctx, [{ action: 'delivery.replayed', target_id: delivery_id, diff }]);
      return begun;
    });
    ctx.jobs.wake('webhook.deliver');
    return webhookDeliveryEntry(row);
  },
});
