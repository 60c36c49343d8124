import { z } from 'zod';
import { recordAudit } from '../../audit/index.ts';
import { idPrefixes } from '../../fields/ids.ts';
import { idField } from '../../fields/wire.ts';
import { operation } from '../../operation/operation.ts';
import { requireEnabled } from '../endpoints/require-enabled.ts';
import { sendDeliver } from '../posting/send-deliver.ts';
import { keepDelivered } from './attempt-store.ts';
import {
  deliveryNotFound,
  type WebhookDeliveryEntry,
  webhookDeliveryEntry,
  webhookDeliverySchema,
} from './delivery-entry.ts';
import { replayRow } from './delivery-store.ts';

/** Posts an event again under the same webhook-id, so that the receiver can detect the duplicate. */
export const replayWebhookDelivery = operation({
  name: 'webhooks.replay',
  scope: 'webhooks:manage',
  sandbox: true,
  summary: 'Replay a delivery with the same webhook-id',
  reasons: ['webhook_not_found', 'delivery_not_found', 'webhook_disabled'],
  input: z.object({ id: idField(idPrefixes.webhook), delivery_id: idField(idPrefixes.webhook_delivery) }),
  output: webhookDeliverySchema,
  async run(ctx, { id, delivery_id }): Promise<WebhookDeliveryEntry> {
    await requireEnabled(ctx, id);
    const { workspace_id } = ctx.actor;
    const row = await ctx.sql.begin(async (tx) => {
      await keepDelivered(tx, workspace_id, [delivery_id]);
      const replay = await replayRow(tx, workspace_id, id, delivery_id);
      if (!replay) throw deliveryNotFound(delivery_id);
      await sendDeliver(ctx, tx, workspace_id, id);
      const diff = { webhook_id: id, event_id: replay.event_id };
      await recordAudit(tx, ctx, [{ action: 'delivery.replayed', target_id: delivery_id, diff }]);
      return replay;
    });
    ctx.jobs.wakeAll('webhook.deliver');
    return webhookDeliveryEntry(row);
  },
});
