import { z } from 'zod';
import { recordAudit } from '../../audit/index.ts';
import { idPrefixes } from '../../fields/ids.ts';
import { idField, objectName } from '../../fields/wire.ts';
import { requireFreshSignIn } from '../../operation/fresh-sign-in.ts';
import { operation } from '../../operation/operation.ts';
import { noteAccount } from '../notices/note-account.ts';
import { requirePerson } from '../person.ts';
import { chainOf } from '../roles.ts';
import { lockUser } from '../store.ts';
import { wrongCode } from './check-code.ts';
import { activateCandidate, hasFactor, readCandidate, replaceRecoveryCodes, writeCandidate } from './factor-store.ts';
import { hashRecoveryCode, newRecoveryCodes } from './recovery-codes.ts';
import { CODE_PATTERN, newTotpSecret, stepOf, totpPurpose, totpSetup, withoutSpaces } from './totp.ts';

/**
 * Generates a secret for an authenticator app. Sign-ins require its codes only after a first one has activated it; until
 * then, a present app stays.
 */
export const beginTotp = operation({
  name: 'people.begin_totp',
  scope: null,
  without_factor: true,
  summary: 'Generate the secret for an authenticator app, returned once',
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
      await lockUser(tx, user_id);
      await writeCandidate(tx, user_id, encrypted);
    });
    return { object: 'totp_setup' as const, ...(await totpSetup(secret, email, ctx.public_url)) };
  },
});

export const recoveryCodesField = z
  .array(z.string())
  .readonly()
  .meta({ description: 'Each works once instead of a code of the app. Only returned here.' });

/** Activates the authenticator app by a first code, instead of a present one, and returns new recovery codes. */
export const activateTotp = operation({
  name: 'people.activate_totp',
  scope: null,
  without_factor: true,
  summary: 'Require codes of your new authenticator app from now on; returns recovery codes, once',
  reasons: ['invalid_code'],
  input: z.object({
    code: z
      .string()
      .max(100)
      .transform(withoutSpaces)
      .refine((text) => CODE_PATTERN.test(text), 'Enter the six digits that the app shows.'),
  }),
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
      await lockUser(tx, user_id);
      const encrypted = await readCandidate(tx, user_id);
      const secret = encrypted && ctx.encryption.decrypt(encrypted, totpPurpose(user_id));
      const step = secret && (await stepOf(secret, code, ctx.clock.now()));
      if (step === null) throw wrongCode();
      const is_replacement = await hasFactor(tx, user_id);
      await activateCandidate(tx, user_id, step);
      await replaceRecoveryCodes(tx, user_id, recovery_codes.map(hashRecoveryCode));
      await noteAccount(ctx, tx, user_id, 'factor_added', { address: ctx.address, session_id: actor.session_id });
      await recordAudit(tx, ctx, [
        {
          action: 'user.factor_added',
          target_id: user_id,
          diff: { factor: 'totp', replaced: is_replacement },
          workspace_id: chainOf(actor),
        },
      ]);
    });
    return { object: 'user' as const, id: user_id, recovery_codes };
  },
});
