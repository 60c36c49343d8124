import { z } from 'zod';
import { idPrefixes } from '../../fields/ids.ts';
import { idField } from '../../fields/wire.ts';
import { accessibleMode } from '../../operation/access.ts';
import type { ActorContext } from '../../operation/context.ts';
import { operation } from '../../operation/operation.ts';
import { isKept } from '../../operation/retention.ts';
import type { WebhookFormat } from '../endpoints/format.ts';
import { webhookIds, webhooksByIds } from '../endpoints/store.ts';
import { bodyOf } from '../posting/payload.ts';
import { readAttemptsByDelivery } from './attempt-store.ts';
import { deliveryNotFound, webhookDeliveryEntry, webhookDeliverySchema } from './delivery-entry.ts';
import { postsOf, type WebhookPost, webhookPostSchema } from './delivery-posts.ts';
import { deliveriesByIds, loadOwedEvents, readDeliverySubjects, type WebhookDeliveryRow } from './delivery-store.ts';

const MAX_ATTEMPTS_SHOWN = 100;
/** The retry schedule has about ten attempts; a replay restarts the schedule. */
const MAX_ATTEMPTS = 50;

const detailSchema = webhookDeliverySchema
  .extend({
    url: z.string().nullable().meta({ description: 'Current URL of the webhook; null after it is deleted.' }),
    request_body: z.unknown().meta({ description: 'The request body; null after the event expires.' }),
    posts: z
      .array(webhookPostSchema)
      .readonly()
      .meta({ description: `The newest ${MAX_ATTEMPTS} attempts, oldest first.` }),
  })
  .meta({ id: 'WebhookDeliveryDetail' });

/** Returns one delivery of an endpoint, even of a deleted one, with every attempt, request and response. */
export const getWebhookDelivery = operation({
  name: 'webhooks.delivery',
  scope: 'webhooks:manage',
  sandbox: true,
  summary: 'Get a webhook delivery with every attempt, request and response',
  reasons: ['delivery_not_found'],
  input: z.object({ id: idField(idPrefixes.webhook), delivery_id: idField(idPrefixes.webhook_delivery) }),
  output: detailSchema,
  async run(ctx, { id, delivery_id }) {
    const { workspace_id } = ctx.actor;
    const [row] = await accessible(ctx, await deliveriesByIds(ctx.sql, workspace_id, [delivery_id]));
    if (row?.webhook_id !== id) throw deliveryNotFound(delivery_id);
    const endpoint = webhooksByIds(ctx.sql, workspace_id, null, [row.webhook_id]);
    const [[webhook], request_body, attempts] = await Promise.all([
      endpoint,
      endpoint.then(([configured]) => requestBody(ctx, row, configured?.format ?? 'postrider')),
      readAttemptsByDelivery(ctx.sql, workspace_id, [delivery_id], MAX_ATTEMPTS),
    ]);
    return { ...webhookDeliveryEntry(row), url: webhook?.url ?? null, request_body, posts: postsOf(row, attempts) };
  },
});

/** Returns the attempts of deliveries, in the given order. */
export const readWebhookPosts = operation({
  name: 'webhooks.posts',
  scope: 'webhooks:manage',
  sandbox: true,
  summary: 'Attempts of several webhook deliveries',
  input: z.object({ ids: z.array(z.string()).max(MAX_ATTEMPTS_SHOWN) }),
  output: z.array(z.array(webhookPostSchema).readonly()).readonly(),
  async run(ctx, { ids }): Promise<readonly (readonly WebhookPost[])[]> {
    const { workspace_id } = ctx.actor;
    const rows = await accessible(ctx, await deliveriesByIds(ctx.sql, workspace_id, ids));
    const delivery_ids = rows.map(({ id }) => id);
    const by_delivery = Map.groupBy(
      await readAttemptsByDelivery(ctx.sql, workspace_id, delivery_ids, MAX_ATTEMPTS),
      (row) => row.delivery_id,
    );
    const by_id = new Map(rows.map((row) => [row.id, postsOf(row, by_delivery.get(row.id) ?? [])]));
    return ids.map((id) => by_id.get(id) ?? []);
  },
});

/**
 * Filters to the deliveries that the caller may see, within the retention period: a sandbox key sees only deliveries to
 * endpoints of its mode.
 */
async function accessible(ctx: ActorContext, rows: readonly WebhookDeliveryRow[]): Promise<WebhookDeliveryRow[]> {
  const mode = accessibleMode(ctx.actor);
  const ids = mode === null ? null : await webhookIds(ctx.sql, ctx.actor.workspace_id, mode);
  return rows.filter(({ id, webhook_id }) => isKept(ctx, 'events', id) && (ids === null || ids.includes(webhook_id)));
}

async function requestBody(ctx: ActorContext, row: WebhookDeliveryRow, format: WebhookFormat): Promise<unknown> {
  const [subject] = await readDeliverySubjects(ctx.sql, ctx.actor.workspace_id, [row.id]);
  if (subject?.sample != null) return JSON.parse(subject.sample);
  const owed = (await loadOwedEvents(ctx.sql, [row])).get(row.event_id);
  return owed ? JSON.parse(bodyOf(owed, format).toString()) : null;
}
