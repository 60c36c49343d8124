import { z } from 'zod';
import { listOf } from '../../fields/wire.ts';
import { accessibleMode } from '../../operation/access.ts';
import { operation } from '../../operation/operation.ts';
import { type List, pageFields, pageOf, pageReasons, readCursor } from '../../paging/list.ts';
import { readWebhookPage } from './store.ts';
import { type WebhookEntry, webhookEntry, webhookSchema } from './webhook-entry.ts';

export const listWebhooks = operation({
  name: 'webhooks.list',
  scope: 'webhooks:manage',
  sandbox: true,
  summary: 'List webhooks, newest first',
  reasons: [...pageReasons, 'invalid_status'],
  input: z.object(pageFields),
  output: listOf(webhookSchema),
  async run(ctx, { limit, cursor }): Promise<List<WebhookEntry>> {
    const { workspace_id } = ctx.actor;
    const mode = accessibleMode(ctx.actor);
    const scope = { secret_key: ctx.secret_key, list: 'webhooks', workspace_id, filters: { mode } };
    const rows = await readWebhookPage(ctx.sql, workspace_id, mode, readCursor(scope, cursor), limit + 1);
    return pageOf(scope, rows, limit, webhookEntry);
  },
});
