import type { Tx } from '@postrider/db';
import { z } from 'zod';
import { recordAudit } from '../../audit/index.ts';
import { isoTime } from '../../fields/clock.ts';
import { idPrefixes } from '../../fields/ids.ts';
import { idField, objectName, timeField } from '../../fields/wire.ts';
import { AppError } from '../../operation/errors.ts';
import { operation } from '../../operation/operation.ts';
import { type CodeMethod, withCode } from '../factors/check-code.ts';
import { hasFactor } from '../factors/factor-store.ts';
import { requirePerson } from '../person.ts';
import { chainOf } from '../roles.ts';
import { holdUser } from '../store.ts';
import { checkPassword, notYourPassword } from './check-password.ts';
import { renewProof } from './session-store.ts';
import { hashToken, newToken } from './token.ts';

/**
 * Confirms the password of a session, and the second factor, for actions that need a fresh sign-in. The session gets a new
 * token (in the context's notes), so that a stolen copy of the old one does not become fresh too.
 */
export const confirmPassword = operation({
  name: 'people.confirm_password',
  scope: null,
  without_factor: true,
  summary: 'Confirm your password so that the session counts as recently signed in for an hour',
  reasons: ['code_required', 'invalid_code'],
  input: z.object({
    password: z.string().max(200),
    code: z.string().max(100).optional().meta({ description: 'Required with a second factor.' }),
  }),
  output: z.object({ object: objectName('user'), id: idField(idPrefixes.user), confirmed_until: timeField }),
  async run(ctx, { password, code = '' }) {
    const actor = requirePerson(ctx);
    const login = { email: actor.email, password, from: { session_id: actor.session_id } };
    const checked = await checkPassword(ctx, login, notYourPassword);
    const token = newToken();
    const has_factor = await hasFactor(ctx.sql, actor.user_id);
    if (has_factor && code === '') throw codeRequired();
    const confirm = async (tx: Tx, second_factor?: CodeMethod) => {
      const renewed = await renewProof(tx, {
        id: actor.session_id,
        token_hash: hashToken(token),
        password_hash: checked.password_hash,
      });
      if (!renewed) throw new AppError('session_ended', 'Your session has ended. Sign in and try again.');
      await recordAudit(tx, ctx, [
        {
          action: 'user.confirmed',
          target_id: actor.user_id,
          diff: { by: 'password', ...(second_factor && { second_factor }) },
          workspace_id: chainOf(actor),
        },
      ]);
      return renewed;
    };
    const { session_id } = actor;
    const source = { address: ctx.address, session_id, request_id: ctx.request_id, proof: session_id };
    const until = has_factor
      ? await withCode(ctx, actor.user_id, code, source, (tx, { method }) => confirm(tx, method))
      : await ctx.sql.begin(async (tx) => {
          await holdUser(tx, actor.user_id);
          // One may have been activated in the meantime.
          if (await hasFactor(tx, actor.user_id)) throw codeRequired();
          return confirm(tx);
        });
    ctx.notes.session_token = token;
    return { object: 'user', id: actor.user_id, confirmed_until: isoTime(until) };
  },
});

function codeRequired(): AppError {
  return new AppError('code_required', 'Enter the code that your authenticator app shows, or a recovery code.');
}
