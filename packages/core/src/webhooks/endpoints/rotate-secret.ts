import { z } from 'zod';
import { recordAudit } from '../../audit/index.ts';
import { idPrefixes } from '../../fields/ids.ts';
import { idField } from '../../fields/wire.ts';
import { accessibleMode } from '../../operation/access.ts';
import { requireFreshSignIn } from '../../operation/fresh-sign-in.ts';
import { operation } from '../../operation/operation.ts';
import { encryptSecret, newWebhookSecret } from '../posting/signing.ts';
import { replaceSecret } from './store.ts';
import { type WebhookWithSecret, webhookEntry, webhookNotFound, webhookWithSecretSchema } from './webhook-entry.ts';

const OVERLAP_SECONDS = 86_400;

/**
 * Replaces the secret. The old and the new secret both sign for a day, so that the receiver can switch at any time
 * during that day.
 */
export const rotateWebhookSecret = operation({
  name: 'webhooks.rotate_secret',
  scope: 'webhooks:manage',
  sandbox: true,
  summary: 'Rotate the secret; the old one remains valid for 24 hours',
  reasons: ['webhook_not_found', 'reauthentication_required'],
  input: z.object({ id: idField(idPrefixes.webhook) }),
  output: webhookWithSecretSchema,
  async run(ctx, { id }): Promise<WebhookWithSecret> {
    await requireFreshSignIn(ctx);
    const secret = newWebhookSecret();
    const row = await ctx.sql.begin(async (tx) => {
      const replaced = await replaceSecret(tx, ctx.actor.workspace_id, accessibleMode(ctx.actor), id, {
        secret: encryptSecret(ctx.encryption, id, secret),
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
