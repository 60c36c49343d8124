import { z } from 'zod';
import { recordAudit } from '../../audit/index.ts';
import { idPrefixes } from '../../fields/ids.ts';
import { idField, objectName, timeField } from '../../fields/wire.ts';
import { INSTANCE } from '../../operation/access.ts';
import { requireFreshSignIn } from '../../operation/fresh-sign-in.ts';
import { operation } from '../../operation/operation.ts';
import { emailField, personNotFound } from '../person.ts';
import { replaceCredential } from '../replace-credential.ts';
import { newLoginLink } from '../sessions/create-login-link.ts';
import { lockUser, userByEmail } from '../store.ts';
import { keysCreatedBy } from './created-keys-store.ts';

const MAX_KEYS = 100;

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
    keys: z
      .array(
        z.object({ id: idField(idPrefixes.api_key), name: z.string(), workspace_id: idField(idPrefixes.workspace) }),
      )
      .readonly()
      .meta({ description: `API keys that the user created and that still work, up to ${MAX_KEYS}.` }),
  }),
  async run(ctx, { email }) {
    await requireFreshSignIn(ctx);
    return ctx.sql.begin(async (tx) => {
      const known = await userByEmail(tx, email);
      const user = known && (await lockUser(tx, known.id));
      if (!user) throw personNotFound(email);
      await replaceCredential(tx, user.id, { password_hash: null, vouched: true });
      const link = await newLoginLink(tx, ctx.public_url, user.id);
      await recordAudit(tx, ctx, [{ action: 'user.sign_in_reset', target_id: user.id, workspace_id: INSTANCE }]);
      const keys = await keysCreatedBy(tx, user.id, MAX_KEYS);
      return { object: 'user' as const, email, ...link, keys };
    });
  },
});
