import { z } from 'zod';
import { accessibleMode } from '../../operation/access.ts';
import type { ActorContext } from '../../operation/context.ts';
import { operation } from '../../operation/operation.ts';
import { webhookDeliveryEntry, webhookDeliverySchema } from '../deliveries/delivery-entry.ts';
import {
  deliveriesByIds,
  loadOwedEvents,
  readDeliveriesByEvent,
  readDeliverySubjects,
} from '../deliveries/delivery-store.ts';
import { bodyOf } from '../posting/payload.ts';
import { webhookIds, webhooksByIds } from './store.ts';
import { webhookEntry, webhookSchema } from './webhook-entry.ts';

const MAX_IDS = 1000;
// A body can be up to 20 kB.
const MAX_BODIES = 100;
const input = z.object({ ids: z.array(z.string()).max(MAX_IDS) });

/** Filters by access scope: a sandbox key sees only deliveries to endpoints of its mode. */
async function withinAccess<R extends { readonly webhook_id: string }>(
  ctx: ActorContext,
  rows: readonly R[],
): Promise<readonly R[]> {
  const mode = accessibleMode(ctx.actor);
  if (mode === null) return rows;
  const ids = await webhookIds(ctx.sql, ctx.actor.workspace_id, mode);
  return rows.filter(({ webhook_id }) => ids.includes(webhook_id));
}

/** Returns webhooks by id, in the given order; null for those outside the workspace. */
export const readWebhooks = operation({
  name: 'webhooks.read_many',
  scope: 'webhooks:manage',
  sandbox: true,
  summary: 'Webhooks by ID',
  input,
  output: z.array(webhookSchema.nullable()).readonly(),
  async run(ctx, { ids }) {
    const rows = await webhooksByIds(ctx.sql, ctx.actor.workspace_id, accessibleMode(ctx.actor), ids);
    const by_id = new Map(rows.map((row) => [row.id, webhookEntry(row)]));
    return ids.map((id) => by_id.get(id) ?? null);
  },
});

/** Returns webhook deliveries by id, in the given order. */
export const readWebhookDeliveries = operation({
  name: 'webhooks.read_deliveries',
  scope: 'webhooks:manage',
  sandbox: true,
  summary: 'Webhook deliveries by ID',
  input,
  output: z.array(webhookDeliverySchema.nullable()).readonly(),
  async run(ctx, { ids }) {
    const rows = await withinAccess(ctx, await deliveriesByIds(ctx.sql, ctx.actor.workspace_id, ids));
    const by_id = new Map(rows.map((row) => [row.id, webhookDeliveryEntry(row)]));
    return ids.map((id) => by_id.get(id) ?? null);
  },
});

/** Returns the deliveries of events to existing webhooks, in the order of the events. */
export const readDeliveriesOfEvents = operation({
  name: 'webhooks.deliveries_of_events',
  scope: 'webhooks:manage',
  sandbox: true,
  summary: 'Webhook deliveries of several events',
  input: z.object({ ids: z.array(z.string()).max(MAX_IDS) }),
  output: z.array(z.array(webhookDeliverySchema).readonly()).readonly(),
  async run(ctx, { ids }) {
    const rows = await withinAccess(ctx, await readDeliveriesByEvent(ctx.sql, ctx.actor.workspace_id, ids));
    const by_event = Map.groupBy(rows, (row) => row.event_id);
    return ids.map((id) => (by_event.get(id) ?? []).map(webhookDeliveryEntry));
  },
});

/** Returns the bodies of deliveries, in the given order; null if deleted. */
export const readDeliveryBodies = operation({
  name: 'webhooks.delivery_bodies',
  scope: 'webhooks:manage',
  sandbox: true,
  summary: 'Bodies of several webhook deliveries',
  input: z.object({ ids: z.array(z.string()).max(MAX_BODIES) }),
  output: z.array(z.unknown()).readonly(),
  async run(ctx, { ids }): Promise<readonly unknown[]> {
    const rows = await withinAccess(ctx, await readDeliverySubjects(ctx.sql, ctx.actor.workspace_id, ids));
    const by_id = new Map(rows.map((row) => [row.id, row]));
    const events = await loadOwedEvents(
      ctx.sql,
      rows.filter(({ sample }) => sample === null),
    );
    const endpoints = await webhooksByIds(ctx.sql, ctx.actor.workspace_id, null, [
      ...new Set(rows.map(({ webhook_id }) => webhook_id)),
    ]);
    const formats = new Map(endpoints.map(({ id, format }) => [id, format]));
    return ids.map((id): unknown => {
      const row = by_id.get(id);
      if (!row) return null;
      if (row.sample !== null) return JSON.parse(row.sample);
      const owed = events.get(row.event_id);
      return owed ? JSON.parse(bodyOf(owed, formats.get(row.webhook_id) ?? 'postrider').toString()) : null;
    });
  },
});
