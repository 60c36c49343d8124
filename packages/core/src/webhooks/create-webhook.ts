import { z } from 'zod';
import { type KeyMode, keyModes } from '../api-keys/index.ts';
import { recordAudit } from '../audit/index.ts';
import { AppError } from '../errors.ts';
import { requireFreshSignIn } from '../fresh-sign-in.ts';
import { newId } from '../ids.ts';
import { operation } from '../operation.ts';
import { modeInReach } from '../reach.ts';
import { newWebhookSecret, sealSecret } from './signing.ts';
import { countWebhooks, insertWebhook, lockWorkspace } from './store.ts';
import { requirePublic, shownUrl, urlField } from './url-field.ts';
import {
  ALL_EVENTS,
  descriptionField,
  eventsField,
  type WebhookWithSecret,
  webhookEntry,
  webhookWithSecretSchema,
} from './webhook-entry.ts';

// Of each mode, so that those which a sandbox key makes stand in the way of no live one.
const MOST_WEBHOOKS = 10;

/** Adds an endpoint; its secret is in this answer and in no other. */
export const createWebhook = operation({
  name: 'webhooks.create',
  scope: 'webhooks:manage',
  summary: 'Add an endpoint that events are posted to; its secret is shown once',
  input: z.object({
    url: urlField,
    events: eventsField.default(null).meta({ default: ALL_EVENTS }),
    description: descriptionField.nullish(),
    mode: z.enum(keyModes).optional().meta({
      description:
        'Which mail it hears of; that of a sandbox key hears of sandbox mail, any other of live mail unless it says so.',
    }),
  }),
  output: webhookWithSecretSchema,
  async run(ctx, { url, events, description, mode: asked }): Promise<WebhookWithSecret> {
    await requireFreshSignIn(ctx);
    const only = modeInReach(ctx.actor);
    const mode = asked ?? only ?? 'live';
    if (only !== null && mode !== only) throw liveFromSandbox();
    const { workspace_id } = ctx.actor;
    await requirePublic(ctx.config, url);
    const id = newId('webhook', ctx.clock.now());
    const secret = newWebhookSecret();
    const row = await ctx.sql.begin(async (tx) => {
      await lockWorkspace(tx, workspace_id);
      if ((await countWebhooks(tx, workspace_id, mode)) >= MOST_WEBHOOKS) throw tooMany(mode);
      const added = await insertWebhook(tx, {
        workspace_id,
        id,
        url,
        description: description ?? null,
        mode,
        events,
        secret: sealSecret(ctx.sealing, id, secret),
        secret_last4: secret.slice(-4),
      });
      const diff = { url: shownUrl(url), events, description: description ?? null, mode };
      await recordAudit(tx, ctx, [{ action: 'webhook.created', target_id: id, diff }]);
      return added;
    });
    return { ...webhookEntry(row), secret };
  },
});

function liveFromSandbox(): AppError {
  const message = 'A sandbox key makes endpoints for sandbox mail only; leave mode out, or use a live key.';
  return new AppError('missing_scope', message, { required_scope: 'webhooks:manage' });
}

function tooMany(mode: KeyMode): AppError {
  return new AppError(
    'webhook_limit',
    `A workspace has at most ${MOST_WEBHOOKS} ${mode} webhooks; delete one, or let one endpoint take more types.`,
  );
}
