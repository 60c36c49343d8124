import { z } from 'zod';
import { recordAudit } from '../../audit/index.ts';
import { isoTime } from '../../fields/clock.ts';
import { idPrefixes } from '../../fields/ids.ts';
import { idField, objectName, timeField } from '../../fields/wire.ts';
import { AppError } from '../../operation/errors.ts';
import { requireFreshSignIn } from '../../operation/fresh-sign-in.ts';
import { operation } from '../../operation/operation.ts';
import { noteAccount } from '../notices/note-account.ts';
import { requirePerson } from '../person.ts';
import { chainOf } from '../roles.ts';
import { lockUser } from '../store.ts';
import { deleteFactors, hasFactor, readFactor, recoveryCodeCount, replaceRecoveryCodes } from './factor-store.ts';
import { isFactorRequired } from './policy-store.ts';
import { hashRecoveryCode, newRecoveryCodes } from './recovery-codes.ts';
import { recoveryCodesField } from './set-up-totp.ts';

const noFactor = () => new AppError('factor_not_found', 'You have no authenticator app.');

export const readFactors = operation({
  name: 'people.factors',
  scope: null,
  without_factor: true,
  summary: 'Your second factor',
  input: z.object({}),
  output: z.object({
    object: objectName('second_factor'),
    totp_since: timeField.nullable().meta({ description: 'When the authenticator app was added; null without one.' }),
    recovery_codes_left: z.int(),
  }),
  async run(ctx) {
    const { user_id } = requirePerson(ctx);
    const factor = await readFactor(ctx.sql, user_id);
    return {
      object: 'second_factor' as const,
      totp_since: factor && isoTime(factor.active_at),
      recovery_codes_left: await recoveryCodeCount(ctx.sql, user_id),
    };
  },
});

/** Removes the caller's authenticator app and recovery codes. */
export const removeTotp = operation({
  name: 'people.remove_totp',
  scope: null,
  without_factor: true,
  summary: 'Remove your authenticator app and recovery codes',
  reasons: ['factor_not_found', 'last_factor'],
  input: z.object({}),
  output: z.object({ object: objectName('user'), id: idField(idPrefixes.user), removed: z.literal(true) }),
  async run(ctx) {
    const actor = requirePerson(ctx);
    await requireFreshSignIn(ctx);
    const { user_id } = actor;
    await ctx.sql.begin(async (tx) => {
      await lockUser(tx, user_id);
      if (!(await hasFactor(tx, user_id))) throw noFactor();
      if (await isFactorRequired(tx, user_id))
        throw new AppError('last_factor', 'A policy requires a second factor, and you have no other.');
      await deleteFactors(tx, user_id);
      await noteAccount(ctx, tx, user_id, 'factor_removed', { address: ctx.address, session_id: actor.session_id });
      await recordAudit(tx, ctx, [
        { action: 'user.factor_removed', target_id: user_id, diff: { factor: 'totp' }, workspace_id: chainOf(actor) },
      ]);
    });
    return { object: 'user' as const, id: user_id, removed: true as const };
  },
});

/** Replaces all recovery codes of the caller, used or not. */
export const renewRecoveryCodes = operation({
  name: 'people.renew_recovery_codes',
  scope: null,
  without_factor: true,
  summary: 'Replace your recovery codes; the new ones are returned once',
  reasons: ['factor_not_found'],
  input: z.object({}),
  output: z.object({ object: objectName('user'), id: idField(idPrefixes.user), recovery_codes: recoveryCodesField }),
  async run(ctx) {
    const actor = requirePerson(ctx);
    await requireFreshSignIn(ctx);
    const { user_id } = actor;
    const recovery_codes = newRecoveryCodes();
    await ctx.sql.begin(async (tx) => {
      await lockUser(tx, user_id);
      if (!(await hasFactor(tx, user_id))) throw noFactor();
      await replaceRecoveryCodes(tx, user_id, recovery_codes.map(hashRecoveryCode));
      await noteAccount(ctx, tx, user_id, 'recovery_codes_renewed', {
        address: ctx.address,
        session_id: actor.session_id,
      });
      await recordAudit(tx, ctx, [
        { action: 'user.recovery_codes_renewed', target_id: user_id, workspace_id: chainOf(actor) },
      ]);
    });
    return { object: 'user' as const, id: user_id, recovery_codes };
  },
});
