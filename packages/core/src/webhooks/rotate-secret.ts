import { z } from 'zod';
import { recordAudit } from '../audit/index.ts';
import { requireFreshSignIn } from '../fresh-sign-in.ts';
import { idPrefixes } from '../ids.ts';
import { operation } from '../operation.ts';
import { modeInReach } from '../reach.ts';
import { idField } from '../wire.ts';
import { newWebhookSecret, sealSecret } from './signing.ts';
import { replaceSecret } from './store.ts';
import { type WebhookWithSecret, webhookEntry, webhookNotFound, webhookWithSecretSchema } from './webhook-entry.ts';

const OVERLAP_SECONDS = 86_400;

/** Replaces the secret; for a day both sign, so that the receiver can change at any time of it. */
export const rotateWebhookSecret = operation({
  name: 'webhooks.rotate_secret',
  scope: 'webhooks:manage',
  summary: 'Replace the secret; the old one also signs for 24 hours',
  input: z.object({ id: idField(idPrefixes.webhook) }),
  output: webhookWithSecretSchema,
  async run(ctx, { id }): Promise<WebhookWithSecret> {
    await requireFreshSignIn(ctx);
    const secret = newWebhookSecret();
    const row = await ctx.sql.begin(async (tx) => {
      const replaced = await replaceSecret(tx, ctx.actor.workspace_id, modeInReach(ctx.actor), id, {
        secret: sealSecret(ctx.sealing, id, secret),
        secret_last4: secret.slice(-4),
        overlap_seconds: OVERLAP_SECONDS,
      });
      if (!replaced) throw webhookNotFound(id);
      const diff = { secret_last4: replaced.secret_last4 };
      await recordAudit(tx, ctx, [{ action: 'webhook.secret_rotated', target_id: id, diff }]);
      return replaced;
    });
    return { ...webhookEntry(row), secret };
  },
});
