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
import { holdUser } from '../store.ts';
import { wrongCode } from './check-code.ts';
import { activateFactor, insertFactor, readFactor, replaceRecoveryCodes } from './factor-store.ts';
import { hashRecoveryCode, newRecoveryCodes } from './recovery-codes.ts';
import { CODE_PATTERN, newTotpSecret, stepOf, totpPurpose, totpSetup } from './totp.ts';

const factorExists = () =>
  new AppError('factor_exists', 'You already have an authenticator app. Remove it before you add another.');

/** Generates a secret for an authenticator app. It is not asked for before a code has activated it. */
export const beginTotp = operation({
  name: 'people.begin_totp',
  scope: null,
  without_factor: true,
  summary: 'Generate the secret for an authenticator app, returned once',
  reasons: ['factor_exists'],
  input: z.object({}),
  output: z.object({
    object: objectName('totp_setup'),
    url: z.string().meta({ description: 'The otpauth URL, for a QR code.' }),
    secret: z.string().meta({ description: 'The secret in base 32, to type. Only returned here.' }),
  }),
  async run(ctx) {
    const { user_id, email } = requirePerson(ctx);
    await requireFreshSignIn(ctx);
    const secret = newTotpSecret();
    const encrypted = ctx.encryption.encrypt(secret, totpPurpose(user_id));
    await ctx.sql.begin(async (tx) => {
      await holdUser(tx, user_id);
      if (!(await insertFactor(tx, user_id, encrypted))) throw factorExists();
    });
    return { object: 'totp_setup' as const, ...totpSetup(secret, email, ctx.public_url) };
  },
});

export const recoveryCodesField = z
  .array(z.string())
  .readonly()
  .meta({ description: 'Each works once instead of a code of the app. Only returned here.' });

/** Activates the authenticator app by a first code, and returns the recovery codes. */
export const activateTotp = operation({
  name: 'people.activate_totp',
  scope: null,
  without_factor: true,
  summary: 'Require codes of your authenticator app from now on; returns recovery codes, once',
  reasons: ['factor_exists', 'invalid_code'],
  input: z.object({ code: z.string().trim().regex(CODE_PATTERN, 'Enter the six digits that the app shows.') }),
  output: z.object({
    object: objectName('user'),
    id: idField(idPrefixes.user),
    recovery_codes: recoveryCodesField,
  }),
  async run(ctx, { code }) {
    const actor = requirePerson(ctx);
    await requireFreshSignIn(ctx);
    const { user_id } = actor;
    const recovery_codes = newRecoveryCodes();
    await ctx.sql.begin(async (tx) => {
      await holdUser(tx, user_id);
      const factor = await readFactor(tx, user_id);
      if (factor?.active_at) throw factorExists();
      if (factor === null) throw wrongCode();
      const secret = ctx.encryption.decrypt(factor.secret, totpPurpose(user_id));
      const step = stepOf(secret, code, ctx.clock.now());
      if (step === null || !(await activateFactor(tx, user_id, factor.secret, step))) throw wrongCode();
      await replaceRecoveryCodes(tx, user_id, recovery_codes.map(hashRecoveryCode));
      await noteAccount(ctx, tx, user_id, 'factor_added', { address: ctx.address, session_id: actor.session_id });
      await recordAudit(tx, ctx, [
        { action: 'user.factor_added', target_id: user_id, diff: { factor: 'totp' }, workspace_id: chainOf(actor) },
      ]);
    });
    return { object: 'user' as const, id: user_id, recovery_codes };
  },
});
