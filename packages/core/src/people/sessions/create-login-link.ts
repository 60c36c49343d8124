import type { Tx } from '@postrider/db';
import { z } from 'zod';
import { refuseLimitedKey } from '../../api-keys/index.ts';
import { recordAudit } from '../../audit/index.ts';
import { isoTime } from '../../fields/clock.ts';
import { objectName, timeField } from '../../fields/wire.ts';
import { INSTANCE } from '../../operation/access.ts';
import { requireFreshSignIn } from '../../operation/fresh-sign-in.ts';
import { operation } from '../../operation/operation.ts';
import { emailField, personNotFound } from '../person.ts';
import { holdUser, userByEmail } from '../store.ts';
import { insertLink } from './session-store.ts';
import { hashToken, newToken } from './token.ts';

export interface LoginLink {
  readonly url: string;
  readonly expires_at: string;
}

/** Creates a link that signs a user in once, within 15 minutes; its token is not stored. */
export async function newLoginLink(tx: Tx, public_url: string, user_id: string): Promise<LoginLink> {
  const token = newToken();
  const expires_at = await insertLink(tx, hashToken(token), user_id);
  return { url: `${public_url.replace(/\/+$/, '')}/login/link/${token}`, expires_at: isoTime(expires_at) };
}

export const createLoginLink = operation({
  name: 'people.create_login_link',
  scope: 'operator',
  summary: 'Create a one-time login link that expires in 15 minutes',
  input: z.object({ email: emailField }),
  output: z.object({ object: objectName('login_link'), email: z.string(), url: z.string(), expires_at: timeField }),
  async run(ctx, { email }) {
    await requireFreshSignIn(ctx);
    await refuseLimitedKey(ctx);
    return ctx.sql.begin(async (tx) => {
      const known = await userByEmail(tx, email);
      // Serialized with a password reset, which would otherwise miss the new link when it deletes the existing ones.
      const user = known && (await holdUser(tx, known.id));
      if (!user) throw personNotFound(email);
      const link = await newLoginLink(tx, ctx.public_url, user.id);
      await recordAudit(tx, ctx, [{ action: 'user.login_link_made', target_id: user.id, workspace_id: INSTANCE }]);
      return { object: 'login_link' as const, email, ...link };
    });
  },
});
