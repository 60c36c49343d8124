import { z } from 'zod';
import { recordAudit } from '../../audit/index.ts';
import { isoTime } from '../../fields/clock.ts';
import { idPrefixes } from '../../fields/ids.ts';
import { idField, objectName, timeField } from '../../fields/wire.ts';
import { AppError } from '../../operation/errors.ts';
import { operation } from '../../operation/operation.ts';
import { requirePerson } from '../person.ts';
import { chainOf } from '../roles.ts';
import { checkPassword, notYourPassword } from './check-password.ts';
import { renewProof } from './session-store.ts';
import { hashToken, newToken } from './token.ts';

/**
 * Confirms the password of a session, for actions that need a fresh sign-in. The session gets a new token (in the
 * context's notes), so that a stolen copy of the old one does not become fresh too.
 */
export const confirmPassword = operation({
  name: 'people.confirm_password',
  scope: null,
  summary: 'Confirm your password so that the session counts as recently signed in for an hour',
  input: z.object({ password: z.string().max(200) }),
  output: z.object({ object: objectName('user'), id: idField(idPrefixes.user), confirmed_until: timeField }),
  async run(ctx, { password }) {
    const actor = requirePerson(ctx);
    const login = { email: actor.email, password, from: { session_id: actor.session_id } };
    const checked = await checkPassword(ctx, login, notYourPassword);
    const token = newToken();
    const until = await ctx.sql.begin(async (tx) => {
      const renewed = await renewProof(tx, {
        id: actor.session_id,
        token_hash: hashToken(token),
        password_hash: checked.password_hash,
      });
      if (!renewed) throw new AppError('session_ended', 'Your session has ended. Sign in and try again.');
      await recordAudit(tx, ctx, [
        { action: 'user.confirmed', target_id: actor.user_id, workspace_id: chainOf(actor) },
      ]);
      return renewed;
    });
    ctx.notes.session_token = token;
    return { object: 'user', id: actor.user_id, confirmed_until: isoTime(until) };
  },
});
