import { z } from 'zod';
import { recordAudit } from '../../audit/index.ts';
import { absentable, absentableOr } from '../../fields/absentable.ts';
import { newId } from '../../fields/ids.ts';
import { accessibleMode } from '../../operation/access.ts';
import { AppError } from '../../operation/errors.ts';
import { requireFreshSignIn } from '../../operation/fresh-sign-in.ts';
import { operation } from '../../operation/operation.ts';
import { type KeyMode, keyModes } from '../../operation/secrets.ts';
import { requireRoomInPlan } from '../../usage/index.ts';
import { encryptSecret, newWebhookSecret } from '../posting/signing.ts';
import { eventsIn } from './format.ts';
import { countWebhooks, insertWebhook } from './store.ts';
import { requirePublic, shownUrl, urlField } from './url-field.ts';
import {
  ALL_EVENTS,
  descriptionField,
  eventsField,
  formatField,
  type WebhookWithSecret,
  webhookEntry,
  webhookWithSecretSchema,
} from './webhook-entry.ts';

// Counted per mode, so that sandbox endpoints do not use up the limit for live ones.
const MAX_WEBHOOKS = 10;

/** Adds an endpoint; only this response contains its secret. */
export const createWebhook = operation({
  name: 'webhooks.create',
  scope: 'webhooks:manage',
  sandbox: true,
  summary: 'Add a webhook endpoint; its secret is returned once',
  reasons: ['invalid_url', 'private_address', 'webhook_limit', 'reauthentication_required'],
  input: z.object({
    url: urlField.meta({ description: 'The HTTP or HTTPS URL that receives the events.' }),
    events: eventsField.optional().meta({ default: ALL_EVENTS }),
    description: descriptionField.nullish().meta({ description: 'A description for your team.' }),
    format: absentableOr(formatField, 'postrider' as const).meta({
      description: 'Payload format. It cannot be changed later.',
    }),
    mode: absentable(z.enum(keyModes)).meta({
      description: 'The mode whose events it receives. The default is sandbox for sandbox keys and live otherwise.',
    }),
  }),
  output: webhookWithSecretSchema,
  async run(ctx, { url, events: event_types, description, format, mode: mode_input }): Promise<WebhookWithSecret> {
    await requireFreshSignIn(ctx);
    const only_mode = accessibleMode(ctx.actor);
    const mode = mode_input ?? only_mode ?? 'live';
    if (only_mode !== null && mode !== only_mode) throw liveFromSandbox();
    const events = eventsIn(format, event_types ?? null);
    const { workspace_id } = ctx.actor;
    await requirePublic(ctx.config, url);
    const id = newId('webhook', ctx.clock.now());
    const secret = newWebhookSecret();
    const row = await ctx.sql.begin(async (tx) => {
      await requireRoomInPlan(tx, workspace_id, 'webhooks');
      if ((await countWebhooks(tx, workspace_id, mode)) >= MAX_WEBHOOKS) throw tooMany(mode);
      const added = await insertWebhook(tx, {
        workspace_id,
        id,
        url,
        description: description ?? null,
        mode,
        format,
        events,
        secret: encryptSecret(ctx.encryption, id, secret),
        secret_last4: secret.slice(-4),
      });
      const diff = { url: shownUrl(url), events, description: description ?? null, mode, format };
      await recordAudit(tx, ctx, [{ action: 'webhook.created', target_id: id, diff }]);
      return added;
    });
    return { ...webhookEntry(row), secret };
  },
});

function liveFromSandbox(): AppError {
  const message = 'Sandbox keys can create sandbox endpoints only. Omit mode or use a live key.';
  return new AppError('missing_scope', message, { required_scope: 'webhooks:manage' });
}

function tooMany(mode: KeyMode): AppError {
  return new AppError(
    'webhook_limit',
    `A workspace has at most ${MAX_WEBHOOKS} ${mode} webhooks. Delete one, or subscribe an existing one to more event types.`,
  );
}
