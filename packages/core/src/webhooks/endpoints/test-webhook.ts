import { z } from 'zod';
import { recordAudit } from '../../audit/index.ts';
import { eventTypes, exampleEvent } from '../../events/index.ts';
import { absentableOr } from '../../fields/absentable.ts';
import { isoTime } from '../../fields/clock.ts';
import { idPrefixes, newId } from '../../fields/ids.ts';
import { idField } from '../../fields/wire.ts';
import { operation } from '../../operation/operation.ts';
import {
  type WebhookDeliveryEntry,
  webhookDeliveryEntry,
  webhookDeliverySchema,
} from '../deliveries/delivery-entry.ts';
import { insertSample } from '../deliveries/delivery-store.ts';
import { boundedBody } from '../posting/payload.ts';
import { sendDeliver } from '../posting/send-deliver.ts';
import { requireNamed } from './format.ts';
import { requireEnabled } from './require-enabled.ts';

/** Posts an example event marked as a test, whichever types the endpoint subscribes to. */
export const testWebhook = operation({
  name: 'webhooks.test',
  scope: 'webhooks:manage',
  sandbox: true,
  summary: 'Send an example event, with test in its data; the response is the delivery',
  reasons: ['webhook_not_found', 'webhook_disabled'],
  input: z.object({
    id: idField(idPrefixes.webhook),
    type: absentableOr(z.enum(eventTypes), 'email.delivered' as const).meta({
      description: 'The type of the example event.',
    }),
  }),
  output: webhookDeliverySchema,
  async run(ctx, { id, type }): Promise<WebhookDeliveryEntry> {
    const { workspace_id } = ctx.actor;
    const { format } = await requireEnabled(ctx, id);
    requireNamed(format, [type]);
    const now_ms = ctx.clock.now();
    const example = exampleEvent(type, isoTime(now_ms));
    const event_id = newId('event', now_ms);
    const sample = { ...example, id: event_id, data: { ...example.data, test: true } };
    const row = await ctx.sql.begin(async (tx) => {
      const new_row = await insertSample(tx, {
        workspace_id,
        id: newId('webhook_delivery', now_ms),
        webhook_id: id,
        event_id,
        event_type: type,
        sample: boundedBody(sample, format).toString(),
      });
      await sendDeliver(ctx, tx, workspace_id, id);
      await recordAudit(tx, ctx, [
        { action: 'webhook.tested', target_id: id, diff: { type, delivery_id: new_row.id } },
      ]);
      return new_row;
    });
    ctx.jobs.wakeAll('webhook.deliver');
    return webhookDeliveryEntry(row);
  },
});
