import { z } from 'zod';
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
      if (begun) await sendDeliver(ctx, tx, workspace_id, id);
      return begun;
    });
    if (!row) throw deliveryNotFound(delivery_id);
    ctx.jobs.wake('webhook.deliver');
    return webhookDeliveryEntry(row);
  },
});
