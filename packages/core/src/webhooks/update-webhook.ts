import { z } from 'zod';
import { changesOf, recordAudit } from '../audit/index.ts';
import { requireFreshSignIn } from '../fresh-sign-in.ts';
import { idPrefixes } from '../ids.ts';
import { operation } from '../operation.ts';
import { modeInReach } from '../reach.ts';
import { idField } from '../wire.ts';
import { sendClose } from './send-close.ts';
import { sendDeliver } from './send-deliver.ts';
import { changeWebhook, disableWebhook, enableWebhook, webhookById } from './store.ts';
import { untilQuiet } from './until-quiet.ts';
import { requirePublic, shownUrl, urlField } from './url-field.ts';
import {
  descriptionField,
  eventsField,
  type WebhookEntry,
  webhookEntry,
  webhookNotFound,
  webhookSchema,
  webhookStatuses,
} from './webhook-entry.ts';

/** Changes what is named. Disabling gives up what is open; enabling begins with what happens from then on. */
export const updateWebhook = operation({
  name: 'webhooks.update',
  scope: 'webhooks:manage',
  summary: 'Change a webhook, disable it, or enable it again',
  input: z.object({
    id: idField(idPrefixes.webhook),
    url: urlField.optional(),
    events: eventsField.optional(),
    description: descriptionField.nullish(),
    status: z
      .enum(webhookStatuses)
      .optional()
      .meta({ description: 'Disabling gives up what is open there; POST /webhooks/{id}/recover brings it back.' }),
  }),
  output: webhookSchema,
  async run(ctx, { id, status, ...changes }): Promise<WebhookEntry> {
    const { workspace_id } = ctx.actor;
    if (changes.url !== undefined) {
      await requireFreshSignIn(ctx);
      await requirePublic(ctx.config, changes.url);
    }
    const { row, disabled } = await ctx.sql.begin(async (tx) => {
      const before = await webhookById(tx, workspace_id, modeInReach(ctx.actor), id);
      const changed = before && (await changeWebhook(tx, workspace_id, id, changes));
      if (!changed) throw webhookNotFound(id);
      const on = status === 'enabled' ? await enableWebhook(tx, workspace_id, id) : null;
      // For what has not been given up yet.
      if (on) await sendDeliver(ctx, tx, workspace_id, id);
      const off = status === 'disabled' ? await disableWebhook(tx, workspace_id, id, 'manual') : null;
      if (off) await sendClose(ctx, tx, id);
      const after = on ?? off ?? changed;
      const diff = changesOf(before, after, ['url', 'events', 'description', 'status']);
      const shown = diff?.url && { url: [shownUrl(before.url), shownUrl(after.url)] };
      if (diff) await recordAudit(tx, ctx, [{ action: 'webhook.updated', target_id: id, diff: { ...diff, ...shown } }]);
      return { row: after, disabled: off !== null };
    });
    if (disabled) await untilQuiet(ctx, id);
    return webhookEntry(row);
  },
});
