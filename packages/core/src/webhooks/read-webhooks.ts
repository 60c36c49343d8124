import { z } from 'zod';
import { operation } from '../operation.ts';
import { webhookDeliveryEntry, webhookDeliverySchema } from './delivery-entry.ts';
import { deliveriesByIds } from './delivery-store.ts';
import { webhooksByIds } from './store.ts';
import { webhookEntry, webhookSchema } from './webhook-entry.ts';

const MOST = 1000;
const input = z.object({ ids: z.array(z.string()).max(MOST) });

/** Some webhooks by id, in the order asked for; null for what is not in the workspace. */
export const readWebhooks = operation({
  name: 'webhooks.read_many',
  scope: 'webhooks:manage',
  summary: 'Some webhooks by id',
  input,
  output: z.array(webhookSchema.nullable()).readonly(),
  async run(ctx, { ids }) {
    const rows = await webhooksByIds(ctx.sql, ctx.actor.workspace_id, ids);
    const found = new Map(rows.map((row) => [row.id, webhookEntry(row)]));
    return ids.map((id) => found.get(id) ?? null);
  },
});

/** Some deliveries by id, likewise. */
export const readWebhookDeliveries = operation({
  name: 'webhooks.read_deliveries',
  scope: 'webhooks:manage',
  summary: 'Some webhook deliveries by id',
  input,
  output: z.array(webhookDeliverySchema.nullable()).readonly(),
  async run(ctx, { ids }) {
    const rows = await deliveriesByIds(ctx.sql, ctx.actor.workspace_id, ids);
    const found = new Map(rows.map((row) => [row.id, webhookDeliveryEntry(row)]));
    return ids.map((id) => found.get(id) ?? null);
  },
});
