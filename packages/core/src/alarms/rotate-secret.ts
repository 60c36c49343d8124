import { z } from 'zod';
import { recordAudit } from '../audit/index.ts';
import { accessField, accessibleSide, INSTANCE } from '../operation/access.ts';
import { AppError } from '../operation/errors.ts';
import { requireFreshSignIn } from '../operation/fresh-sign-in.ts';
import { operation } from '../operation/operation.ts';
import { type SavedAlarmSettings, savedSettingsSchema, settingsEntry } from './settings.ts';
import { lockSettings, readSettings } from './settings-store.ts';
import { createSecret } from './webhook-secret.ts';

/** Replaces the secret of the alert webhook, or creates the first one for settings that were saved without. */
export const rotateAlarmSecret = operation({
  name: 'alarms.rotate_secret',
  scope: null,
  summary: 'Rotate the secret of the alert webhook; the old one remains valid for 24 hours',
  input: z.object({ access: accessField }),
  output: savedSettingsSchema,
  async run(ctx, { access }): Promise<SavedAlarmSettings> {
    const owner = accessibleSide(ctx, access);
    await requireFreshSignIn(ctx);
    return ctx.sql.begin(async (tx) => {
      await lockSettings(tx, owner);
      if ((await readSettings(tx, owner)).webhook_url === null)
        throw new AppError('webhook_not_found', 'Alerts have no webhook. Set webhook_url first.');
      const secret = await createSecret(ctx, tx, owner);
      const settings = await readSettings(tx, owner);
      const target_id = owner === INSTANCE ? 'instance' : owner;
      const diff = { webhook_secret_last4: settings.webhook_secret_last4 };
      await recordAudit(tx, ctx, [{ action: 'alarm.secret_rotated', target_id, diff, workspace_id: owner }]);
      return { ...settingsEntry(owner, settings), webhook_secret: secret };
    });
  },
});
