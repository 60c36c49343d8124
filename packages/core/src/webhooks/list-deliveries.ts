import { z } from 'zod';
import { collectPage, idRange, pageOfCollected } from '../candidate-pages.ts';
import { idPrefixes } from '../ids.ts';
import { type List, pageFields, readCursor } from '../list.ts';
import { operation } from '../operation.ts';
import { issueFor } from '../parse-input.ts';
import { idField, listOf } from '../wire.ts';
import {
  type WebhookDeliveryEntry,
  type WebhookDeliveryState,
  webhookDeliveryEntry,
  webhookDeliverySchema,
  webhookDeliveryStates,
} from './delivery-entry.ts';
import { pageOfDeliveries } from './delivery-store.ts';
import { webhookById } from './store.ts';
import { webhookNotFound } from './webhook-entry.ts';

const known = webhookDeliveryStates.join(', ');

export const deliveryStatusField = z
  .string()
  .meta({ description: `One or a comma list of ${known}.`, examples: ['failed'] })
  .transform((text, context) => {
    const parts = text.split(',').map((part) => part.trim());
    const states = parts.filter((part): part is WebhookDeliveryState =>
      webhookDeliveryStates.some((one) => one === part),
    );
    if (states.length === parts.length) return [...new Set(states)].sort();
    context.addIssue(issueFor('invalid_status', `status must be one or a comma list of ${known}.`));
    return z.NEVER;
  });

/** What was posted to an endpoint or is to be, newest event first. */
export const listWebhookDeliveries = operation({
  name: 'webhooks.deliveries',
  scope: 'webhooks:manage',
  summary: 'List what was posted to a webhook or is to be, newest first',
  input: z.object({ ...pageFields, id: idField(idPrefixes.webhook), status: deliveryStatusField.optional() }),
  output: listOf(webhookDeliverySchema),
  async run(ctx, { id, limit, cursor, status }): Promise<List<WebhookDeliveryEntry>> {
    const { workspace_id } = ctx.actor;
    if (!(await webhookById(ctx.sql, workspace_id, id))) throw webhookNotFound(id);
    const scope = { secret_key: ctx.secret_key, list: 'webhooks.deliveries', workspace_id, filters: { id, status } };
    const range = idRange('webhook_delivery', {}, readCursor(scope, cursor));
    const found = await collectPage(range, limit + 1, status === undefined, (part, count, wanted) =>
      pageOfDeliveries(ctx.sql, id, status ?? null, part, count, wanted),
    );
    return pageOfCollected(scope, found, limit, webhookDeliveryEntry);
  },
});
