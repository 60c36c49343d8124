import { z } from 'zod';
import { idPrefixes } from '../../fields/ids.ts';
import { idField } from '../../fields/wire.ts';
import { accessibleMode } from '../../operation/access.ts';
import { operation } from '../../operation/operation.ts';
import { webhookById } from './store.ts';
import { type WebhookEntry, webhookEntry, webhookNotFound, webhookSchema } from './webhook-entry.ts';

export const getWebhook = operation({
  name: 'webhooks.get',
  scope: 'webhooks:manage',
  sandbox: true,
  summary: 'Get a webhook with its health',
  reasons: ['webhook_not_found'],
  input: z.object({ id: idField(idPrefixes.webhook) }),
  output: webhookSchema,
  async run(ctx, { id }): Promise<WebhookEntry> {
    const row = await webhookById(ctx.sql, ctx.actor.workspace_id, accessibleMode(ctx.actor), id);
    if (!row) throw webhookNotFound(id);
    return webhookEntry(row);
  },
});
