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

/** Posts an event again, under the same webhook-id: to the receiver it is one that came twice. */
export const replayWebhookDelivery = operation({
  name: 'webhooks.replay',
  scope: 'webhooks:manage',
  summary: 'Post a delivery again, under the same webhook-id',
  input: z.object({ id: idField(idPrefixes.webhook), delivery_id: idField(idPrefixes.webhook_delivery) }),
  output: webhookDeliverySchema,
  async run(ctx, { id, delivery_id }): Promise<WebhookDeliveryEntry> {
    await requireEnabled(ctx, id);
    const row = await replayRow(ctx.sql, ctx.actor.workspace_id, id, delivery_id);
    if (!row) throw deliveryNotFound(delivery_id);
    ctx.jobs.wake('webhook.recover');
    return webhookDeliveryEntry(row);
  },
});
