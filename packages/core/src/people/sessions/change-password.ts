import { z } from 'zod';
import { recordAudit } from '../../audit/index.ts';
import { idPrefixes } from '../../fields/ids.ts';
import { idField, objectName } from '../../fields/wire.ts';
import { AppError } from '../../operation/errors.ts';
import { requireFreshSignIn } from '../../operation/fresh-sign-in.ts';
import { operation } from '../../operation/operation.ts';
import { noteAccount } from '../notices/note-account.ts';
import { requirePerson } from '../person.ts';
import { chainOf } from '../roles.ts';
import { replacePasswordHash } from '../store.ts';
import { checkPassword, notYourPassword } from './check-password.ts';
import { hashPassword } from './password.ts';
import { newPasswordField } from './password-field.ts';
import { inPasswordPlace } from './password-places.ts';
import { endSessions, lockProven, readSessionProof } from './session-store.ts';

/**
 * Changes the caller's password and ends all their sessions, because some may have been started with a stolen password.
 */
export const changePassword = operation({
  name: 'people.change_password',
  scope: null,
  without_factor: true,
  summary: 'Change your password and end all sessions, including this one',
  input: z.object({
    current_password: z.string().max(200).optional().meta({
      description: 'Not required within 15 minutes of using a login link, nor without a password in a fresh sign-in.',
    }),
    new_password: newPasswordField,
  }),
  output: z.object({
    object: objectName('user'),
    id: idField(idPrefixes.user),
    ended_sessions: z.int(),
  }),
  async run(ctx, { current_password, new_password }) {
    const actor = requirePerson(ctx);
    const proof = await readSessionProof(ctx.sql, actor.session_id);
    if (!proof) throw sessionEnded();
    if (proof.password_hash === null) await requireFreshSignIn(ctx);
    else if (!proof.fresh_link) {
      const login = { email: actor.email, password: current_password ?? '', from: { session_id: actor.session_id } };
      await checkPassword(ctx, login, notYourPassword);
    }
    const password_hash = await inPasswordPlace(ctx, actor.session_id, () => hashPassword(new_password));
    const ended_sessions = await ctx.sql.begin(async (tx) => {
      // A reset or another change may have committed while this password was being hashed.
      const session = { id: actor.session_id, user_id: actor.user_id, password_hash: proof.password_hash };
      if (!(await lockProven(tx, session))) throw sessionEnded();
      await replacePasswordHash(tx, actor.user_id, password_hash);
      const origin = { address: ctx.address, session_id: actor.session_id };
      await noteAccount(ctx, tx, actor.user_id, 'password_changed', origin);
      const count = await endSessions(tx, actor.user_id);
      await recordAudit(tx, ctx, [
        { action: 'user.password_changed', target_id: actor.user_id, workspace_id: chainOf(actor) },
      ]);
      return count;
    });
    return { object: 'user', id: actor.user_id, ended_sessions };
  },
});

function sessionEnded(): AppError {
  return new AppError('session_ended', 'Your session has ended. Sign in and try again.');
}
