import type { Tx } from '@postrider/db';
import type { Reason } from '../../operation/errors.ts';
import { idRange } from '../../paging/candidate-pages.ts';
import {
  deliveriesAmong,
  replayRows,
  requireEnabled,
  sendDeliver,
  type WebhookDeliveryState,
  webhookById,
} from '../../webhooks/index.ts';
import type { BulkCommand } from '../command.ts';
import { deliveryFilterSchema, earlierOf, parseFilter } from './filters.ts';
import type { Plan } from './plan.ts';

const CANDIDATES = 1000;
const COUNTED_AT_ONCE = 10_000;

/** Replays webhook deliveries of one endpoint with the same event ids. Pending deliveries are posted anyway. */
export function replayPlan({ workspace_id, cutoff_at, filter }: BulkCommand): Plan {
  const { webhook_id, status, since, until } = parseFilter(deliveryFilterSchema, filter);
  const states: WebhookDeliveryState[] = (status ?? ['failed']).filter((state) => state !== 'pending');
  const walk = (position: string | null) => ({
    webhook_id,
    states,
    range: idRange('webhook_delivery', { since, until: earlierOf(until, cutoff_at) }, position),
  });
  return {
    async check(ctx) {
      await requireEnabled({ ...ctx, actor: { ...ctx.actor, workspace_id } }, webhook_id);
    },
    async next(sql, position, limit) {
      const count = Math.max(CANDIDATES, limit);
      const step = await deliveriesAmong(sql, walk(position), count, limit);
      if (step.ids.length >= limit) return { ids: step.ids, position: step.ids.at(-1) ?? null };
      return { ids: step.ids, position: step.examined < count ? null : step.edge };
    },
    async count(sql, max) {
      let count = 0;
      let position: string | null = null;
      for (let examined = 0; examined < max; examined += COUNTED_AT_ONCE) {
        const step = await deliveriesAmong(sql, walk(position), COUNTED_AT_ONCE, COUNTED_AT_ONCE);
        count += step.ids.length;
        if (step.examined < COUNTED_AT_ONCE) return { count, exact: true };
        position = step.edge;
      }
      return { count, exact: false };
    },
    passedOver: async () => [],
    warnings: states.includes('delivered') ? ['The endpoint already accepted some of these.'] : [],
    async act(tx, services, ids) {
      const replayed_ids = await replayRows(tx, { workspace_id, webhook_id, states }, cutoff_at, ids);
      if (replayed_ids.size > 0) await sendDeliver(services, tx, workspace_id, webhook_id);
      const reason = replayed_ids.size < ids.length ? await whyNot(tx, workspace_id, webhook_id) : null;
      return ids.map((item_id) =>
        replayed_ids.has(item_id)
          ? { item_id, outcome: 'done', reason: null }
          : { item_id, outcome: 'skipped', reason: reason ?? 'not_matching' },
      );
    },
    wakes: 'webhook.deliver',
    most: Number.POSITIVE_INFINITY,
  };
}

async function whyNot(tx: Tx, workspace_id: string, webhook_id: string): Promise<Reason> {
  const row = await webhookById(tx, workspace_id, null, webhook_id);
  if (!row) return 'webhook_not_found';
  return row.status === 'enabled' ? 'not_matching' : 'webhook_disabled';
}
