import { z } from 'zod';
import { refuseLimitedKey } from '../../api-keys/index.ts';
import { recordAudit } from '../../audit/index.ts';
import { objectName, timeField } from '../../fields/wire.ts';
import { INSTANCE } from '../../operation/access.ts';
import { requireFreshSignIn } from '../../operation/fresh-sign-in.ts';
import { operation } from '../../operation/operation.ts';
import { emailField, personNotFound } from '../person.ts';
import { replaceCredential } from '../replace-credential.ts';
import { newLoginLink } from '../sessions/create-login-link.ts';
import { lockUser, userByEmail } from '../store.ts';
import { createdKeys, createdKeysField } from './created-keys.ts';

/** For a person who has lost their phone, or whose account someone else has used. */
export const resetSignIn = operation({
  name: 'people.reset_sign_in',
  scope: 'operator',
  summary: 'Remove a user’s password, second factor and sessions; they get a login link, returned once',
  input: z.object({ email: emailField }),
  output: z.object({
    object: objectName('user'),
    email: z.string(),
    url: z.string(),
    expires_at: timeField,
    keys: createdKeysField,
  }),
  async run(ctx, { email }) {
    await requireFreshSignIn(ctx);
    await refuseLimitedKey(ctx);
    return ctx.sql.begin(async (tx) => {
      const account = await userByEmail(tx, email);
      const user = account && (await lockUser(tx, account.id));
      if (!user) throw personNotFound(email);
      await replaceCredential(ctx, tx, user.id, { password_hash: null, vouched: true }, { address: ctx.address });
      const link = await newLoginLink(tx, ctx.public_url, user.id);
      await recordAudit(tx, ctx, [{ action: 'user.sign_in_reset', target_id: user.id, workspace_id: INSTANCE }]);
      return { object: 'user' as const, email, ...link, keys: await createdKeys(tx, user.id) };
    });
  },
});
