import { z } from 'zod';
import { changesOf, recordAudit } from '../../audit/index.ts';
import { absentable } from '../../fields/absentable.ts';
import { idPrefixes } from '../../fields/ids.ts';
import { idField } from '../../fields/wire.ts';
import { accessibleMode } from '../../operation/access.ts';
import { requireFreshSignIn } from '../../operation/fresh-sign-in.ts';
import { operation } from '../../operation/operation.ts';
import { waitUntilIdle } from '../deliveries/wait-until-idle.ts';
import { sendClose } from '../posting/send-close.ts';
import { sendDeliver } from '../posting/send-deliver.ts';
import { eventsIn } from './format.ts';
import { webhookStatuses } from './status.ts';
import { changeWebhook, disableWebhook, enableWebhook, webhookById } from './store.ts';
import { requirePublic, shownUrl, urlField } from './url-field.ts';
import {
  descriptionField,
  eventsField,
  type WebhookEntry,
  webhookEntry,
  webhookNotFound,
  webhookSchema,
} from './webhook-entry.ts';

/** Changes the given fields. Disabling fails pending deliveries; enabling starts with new events. */
export const updateWebhook = operation({
  name: 'webhooks.update',
  scope: 'webhooks:manage',
  sandbox: true,
  summary: 'Update, disable or enable a webhook',
  reasons: ['webhook_not_found', 'invalid_url', 'private_address', 'reauthentication_required'],
  input: z.object({
    id: idField(idPrefixes.webhook),
    url: absentable(urlField).meta({ description: 'The HTTP or HTTPS URL that receives the events.' }),
    events: eventsField.optional(),
    description: descriptionField.nullish().meta({ description: 'A description for your team.' }),
    status: absentable(z.enum(webhookStatuses)).meta({
      description: 'Disabling drops pending deliveries. POST /v1/webhooks/{id}/recover resends them.',
    }),
  }),
  output: webhookSchema,
  async run(ctx, { id, status, ...changes }): Promise<WebhookEntry> {
    const { workspace_id } = ctx.actor;
    if (changes.url !== undefined) {
      await requireFreshSignIn(ctx);
      await requirePublic(ctx.config, changes.url);
    }
    const { row, disabled } = await ctx.sql.begin(async (tx) => {
      const before = await webhookById(tx, workspace_id, accessibleMode(ctx.actor), id);
      if (!before) throw webhookNotFound(id);
      const events = changes.events === undefined ? undefined : eventsIn(before.format, changes.events);
      const changed = await changeWebhook(tx, workspace_id, id, { ...changes, events });
      if (!changed) throw webhookNotFound(id);
      const enabled = status === 'enabled' ? await enableWebhook(tx, workspace_id, id) : null;
      // Pending deliveries that have not been marked as failed yet are posted after all.
      if (enabled) await sendDeliver(ctx, tx, workspace_id, id);
      const off = status === 'disabled' ? await disableWebhook(tx, workspace_id, id, 'manual') : null;
      if (off) await sendClose(ctx, tx, id);
      const after = enabled ?? off ?? changed;
      const diff = changesOf(before, after, ['url', 'events', 'description', 'status']);
      const url_change = diff?.url && { url: [shownUrl(before.url), shownUrl(after.url)] };
      if (diff)
        await recordAudit(tx, ctx, [{ action: 'webhook.updated', target_id: id, diff: { ...diff, ...url_change } }]);
      return { row: after, disabled: off !== null };
    });
    if (disabled) await waitUntilIdle(ctx, id);
    return webhookEntry(row);
  },
});
