import { z } from 'zod';
import { refuseLimitedKey } from '../../api-keys/index.ts';
import { recordAudit } from '../../audit/index.ts';
import { objectName } from '../../fields/wire.ts';
import { INSTANCE } from '../../operation/access.ts';
import { requireFreshSignIn } from '../../operation/fresh-sign-in.ts';
import { operation } from '../../operation/operation.ts';
import { emailField, personNotFound } from '../person.ts';
import { replaceCredential } from '../replace-credential.ts';
import { hashPassword, newPassword } from '../sessions/password.ts';
import { inPasswordPlace } from '../sessions/password-places.ts';
import { userByEmail } from '../store.ts';
import { createdKeys, createdKeysField } from './created-keys.ts';

/** Sets a new password, shown only to the caller. It replaces the user's other credentials and ends their sessions. */
export const resetPassword = operation({
  name: 'people.reset_password',
  scope: 'operator',
  summary: 'Set a new password for a user, returned once, and end their sessions',
  input: z.object({ email: emailField }),
  output: z.object({ object: objectName('user'), email: z.string(), password: z.string(), keys: createdKeysField }),
  async run(ctx, { email }) {
    await requireFreshSignIn(ctx);
    await refuseLimitedKey(ctx);
    const password = newPassword();
    const password_hash = await inPasswordPlace(ctx, INSTANCE, () => hashPassword(password));
    const keys = await ctx.sql.begin(async (tx) => {
      const user = await userByEmail(tx, email);
      if (!user) throw personNotFound(email);
      await replaceCredential(ctx, tx, user.id, { password_hash, vouched: true }, { address: ctx.address });
      await recordAudit(tx, ctx, [{ action: 'user.password_reset', target_id: user.id, workspace_id: INSTANCE }]);
      return createdKeys(tx, user.id);
    });
    return { object: 'user', email, password, keys };
  },
});
