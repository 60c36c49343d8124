import { z } from 'zod';
import { idPrefixes } from '../../fields/ids.ts';
import { idField } from '../../fields/wire.ts';
import { accessibleMode } from '../../operation/access.ts';
import { operation } from '../../operation/operation.ts';
import { MAX_QUALITY_ATTEMPTS, readQualityRows } from './quality-store.ts';
import { webhooksByIds } from './store.ts';

const DAY_SECONDS = 86_400;
const MAX_IDS = 100;

export const webhookQualitySchema = z.object({
  webhook_id: idField(idPrefixes.webhook),
  attempts: z.int().meta({ description: `Attempts in the last 24 hours, at most the newest ${MAX_QUALITY_ATTEMPTS}.` }),
  success_rate: z.number().nullable().meta({ description: 'The share of these attempts with a 2xx response, 0 to 1.' }),
  p95_ms: z.int().nullable().meta({ description: 'The 95th percentile of their response times.' }),
  is_limited: z.boolean().meta({ description: `Whether only the newest ${MAX_QUALITY_ATTEMPTS} attempts count.` }),
});
export type WebhookQuality = z.output<typeof webhookQualitySchema>;

/** Returns the quality of webhooks by id, in the given order; null for those that the caller may not see. */
export const readWebhookQuality = operation({
  name: 'webhooks.quality',
  scope: 'webhooks:manage',
  sandbox: true,
  summary: 'Success rate and p95 response time of webhooks in the last 24 hours',
  input: z.object({ ids: z.array(z.string()).max(MAX_IDS) }),
  output: z.array(webhookQualitySchema.nullable()).readonly(),
  async run(ctx, { ids }): Promise<readonly (WebhookQuality | null)[]> {
    const { workspace_id } = ctx.actor;
    const webhooks = await webhooksByIds(ctx.sql, workspace_id, accessibleMode(ctx.actor), ids);
    const webhook_ids = webhooks.map(({ id }) => id);
    const rows = await readQualityRows(ctx.sql, workspace_id, webhook_ids, DAY_SECONDS);
    const by_id = new Map(
      rows.map(({ webhook_id, attempt_count, success_count, p95_ms }) => [
        webhook_id,
        {
          webhook_id,
          attempts: attempt_count,
          success_rate: attempt_count === 0 ? null : success_count / attempt_count,
          p95_ms,
          is_limited: attempt_count === MAX_QUALITY_ATTEMPTS,
        },
      ]),
    );
    return ids.map((id) => by_id.get(id) ?? null);
  },
});
