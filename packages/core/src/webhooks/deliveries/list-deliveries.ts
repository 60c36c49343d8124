import { z } from 'zod';
import { eventTypeField } from '../../events/index.ts';
import { idPrefixes } from '../../fields/ids.ts';
import { timestampField } from '../../fields/timestamp-field.ts';
import { idField, listOf } from '../../fields/wire.ts';
import { accessibleMode } from '../../operation/access.ts';
import type { ActorContext } from '../../operation/context.ts';
import { operation } from '../../operation/operation.ts';
import { retainedRange } from '../../operation/retention.ts';
import { collectedPage, collectPage, idRange } from '../../paging/candidate-pages.ts';
import { type List, pageFields, pageReasons, readCursor } from '../../paging/list.ts';
import { statusListOf } from '../../paging/status-list.ts';
import { webhookById, webhookIds } from '../endpoints/store.ts';
import { webhookNotFound } from '../endpoints/webhook-entry.ts';
import { type WebhookDeliveryEntry, webhookDeliveryEntry, webhookDeliverySchema } from './delivery-entry.ts';
import { readDeliveryPage } from './delivery-store.ts';
import { webhookDeliveryStates } from './state.ts';

export const deliveryStatusField = statusListOf(webhookDeliveryStates);

const filterFields = {
  status: deliveryStatusField.optional(),
  type: eventTypeField.optional(),
  since: timestampField('since').optional().meta({ description: 'Events at or after this time.' }),
  until: timestampField('until').optional().meta({ description: 'Events before this time.' }),
};
const filterSchema = z.object({ ...pageFields, ...filterFields });

/** Lists the deliveries of an endpoint, newest event first. */
export const listWebhookDeliveries = operation({
  name: 'webhooks.deliveries',
  scope: 'webhooks:manage',
  sandbox: true,
  summary: 'List the deliveries of a webhook, newest first',
  reasons: [...pageReasons, 'invalid_status', 'webhook_not_found'],
  input: filterSchema.extend({ id: idField(idPrefixes.webhook) }),
  output: listOf(webhookDeliverySchema),
  async run(ctx, { id, ...input }): Promise<List<WebhookDeliveryEntry>> {
    if (!(await webhookById(ctx.sql, ctx.actor.workspace_id, accessibleMode(ctx.actor), id))) throw webhookNotFound(id);
    return pageOf(ctx, 'webhooks.deliveries', [id], { id }, input);
  },
});

/** Lists the deliveries of all endpoints of a workspace, or of one. */
export const listAllDeliveries = operation({
  name: 'webhooks.all_deliveries',
  scope: 'webhooks:manage',
  sandbox: true,
  summary: 'List the webhook deliveries of a workspace, newest first',
  input: filterSchema.extend({ webhook_id: idField(idPrefixes.webhook).optional() }),
  output: listOf(webhookDeliverySchema),
  async run(ctx, { webhook_id, ...input }): Promise<List<WebhookDeliveryEntry>> {
    const ids = await webhookIds(ctx.sql, ctx.actor.workspace_id, accessibleMode(ctx.actor));
    if (webhook_id !== undefined && !ids.includes(webhook_id)) throw webhookNotFound(webhook_id);
    const webhook_ids = webhook_id === undefined ? ids : [webhook_id];
    return pageOf(ctx, 'webhooks.all_deliveries', webhook_ids, { webhook_id }, input);
  },
});

async function pageOf(
  ctx: ActorContext,
  list: string,
  webhook_ids: readonly string[],
  owner_filter: Readonly<Record<string, unknown>>,
  { limit, cursor, status, type, since, until }: z.output<typeof filterSchema>,
): Promise<List<WebhookDeliveryEntry>> {
  const { workspace_id } = ctx.actor;
  const filters = { ...owner_filter, status, type, since, until };
  const scope = { secret_key: ctx.secret_key, list, workspace_id, filters };
  const ids = idRange('webhook_delivery', { since, until }, readCursor(scope, cursor));
  const range = retainedRange(ctx, 'events', 'webhook_delivery', ids);
  const filter = { webhook_ids, states: status ?? null, types: type ?? null };
  const all_pass = status === undefined && type === undefined;
  const page = await collectPage(range, limit + 1, all_pass, (part, count, max) =>
    readDeliveryPage(ctx.sql, filter, part, count, max),
  );
  return collectedPage(scope, page, limit, webhookDeliveryEntry);
}
