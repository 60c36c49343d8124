import { z } from 'zod';
import type { ActorContext } from '../context.ts';
import { operation } from '../operation.ts';
import { modeInReach } from '../reach.ts';
import { webhookDeliveryEntry, webhookDeliverySchema } from './delivery-entry.ts';
import { deliveriesByIds, deliveriesOfEvents, loadOwedEvents, subjectsOfDeliveries } from './delivery-store.ts';
import { bodyOf } from './payload.ts';
import { webhookIds, webhooksByIds } from './store.ts';
import { webhookEntry, webhookSchema } from './webhook-entry.ts';

const MOST = 1000;
// Each is up to 20 kB.
const MOST_BODIES = 100;
const input = z.object({ ids: z.array(z.string()).max(MOST) });

/** What an actor may know of: a sandbox key only of what endpoints of its mode are owed. */
async function withinReach<R extends { readonly webhook_id: string }>(
  ctx: ActorContext,
  rows: readonly R[],
): Promise<readonly R[]> {
  const mode = modeInReach(ctx.actor);
  if (mode === null) return rows;
  const ids = await webhookIds(ctx.sql, ctx.actor.workspace_id, mode);
  return rows.filter(({ webhook_id }) => ids.includes(webhook_id));
}

/** Some webhooks by id, in the order asked for; null for what is not in the workspace. */
export const readWebhooks = operation({
  name: 'webhooks.read_many',
  scope: 'webhooks:manage',
  summary: 'Some webhooks by id',
  input,
  output: z.array(webhookSchema.nullable()).readonly(),
  async run(ctx, { ids }) {
    const rows = await webhooksByIds(ctx.sql, ctx.actor.workspace_id, modeInReach(ctx.actor), ids);
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
    const rows = await withinReach(ctx, await deliveriesByIds(ctx.sql, ctx.actor.workspace_id, ids));
    const found = new Map(rows.map((row) => [row.id, webhookDeliveryEntry(row)]));
    return ids.map((id) => found.get(id) ?? null);
  },
});

/** What came of some events at the webhooks that there are, in the order of the events. */
export const readDeliveriesOfEvents = operation({
  name: 'webhooks.deliveries_of_events',
  scope: 'webhooks:manage',
  summary: 'The webhook deliveries of some events',
  input: z.object({ ids: z.array(z.string()).max(MOST) }),
  output: z.array(z.array(webhookDeliverySchema).readonly()).readonly(),
  async run(ctx, { ids }) {
    const rows = await withinReach(ctx, await deliveriesOfEvents(ctx.sql, ctx.actor.workspace_id, ids));
    const found = Map.groupBy(rows, (row) => row.event_id);
    return ids.map((id) => (found.get(id) ?? []).map(webhookDeliveryEntry));
  },
});

/** What some deliveries post, in the order asked for; null where that is no longer kept. */
export const readDeliveryBodies = operation({
  name: 'webhooks.delivery_bodies',
  scope: 'webhooks:manage',
  summary: 'The bodies of some webhook deliveries',
  input: z.object({ ids: z.array(z.string()).max(MOST_BODIES) }),
  output: z.array(z.unknown()).readonly(),
  async run(ctx, { ids }): Promise<readonly unknown[]> {
    const rows = await withinReach(ctx, await subjectsOfDeliveries(ctx.sql, ctx.actor.workspace_id, ids));
    const found = new Map(rows.map((row) => [row.id, row]));
    const events = await loadOwedEvents(
      ctx.sql,
      rows.filter(({ sample }) => sample === null),
    );
    return ids.map((id): unknown => {
      const row = found.get(id);
      if (!row) return null;
      if (row.sample !== null) return JSON.parse(row.sample);
      const owed = events.get(row.event_id);
      return owed ? JSON.parse(bodyOf(owed).toString()) : null;
    });
  },
});
