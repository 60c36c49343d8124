import { z } from 'zod';
import { idPrefixes } from '../ids.ts';
import { operation } from '../operation.ts';
import { modeInReach } from '../reach.ts';
import { idField } from '../wire.ts';
import { webhookById } from './store.ts';
import { type WebhookEntry, webhookEntry, webhookNotFound, webhookSchema } from './webhook-entry.ts';

export const getWebhook = operation({
  name: 'webhooks.get',
  scope: 'webhooks:manage',
  summary: 'One webhook, with how it does',
  input: z.object({ id: idField(idPrefixes.webhook) }),
  output: webhookSchema,
  async run(ctx, { id }): Promise<WebhookEntry> {
    const row = await webhookById(ctx.sql, ctx.actor.workspace_id, modeInReach(ctx.actor), id);
    if (!row) throw webhookNotFound(id);
    return webhookEntry(row);
  },
});
