import { z } from 'zod';
import { refuseLimitedKey } from '../../api-keys/index.ts';
import { recordAudit } from '../../audit/index.ts';
import { INSTANCE } from '../../operation/access.ts';
import { AppError } from '../../operation/errors.ts';
import { requireFreshSignIn } from '../../operation/fresh-sign-in.ts';
import { operation } from '../../operation/operation.ts';
import { admitWithEntry, entryField, entrySchema, preparedEntry } from '../admit-person.ts';
import { emailField, reasonField } from '../person.ts';
import { grantOperator, lockEmail } from '../store.ts';
import { operatorEntry, operatorSchema } from './operator-entry.ts';

/**
 * Makes a user an operator. An existing user is reset, because the admin who invited them may hold the old credential.
 */
export const addOperator = operation({
  name: 'operators.add',
  scope: 'operator',
  summary: 'Add an operator; they get a login link or password, returned once',
  input: z.object({ email: emailField, entry: entryField, reason: reasonField }),
  output: operatorSchema.extend(entrySchema.shape),
  async run(ctx, { email, entry: entry_method, reason = null }) {
    await requireFreshSignIn(ctx);
    await refuseLimitedKey(ctx);
    const prepared = await preparedEntry(ctx, INSTANCE, entry_method);
    return ctx.sql.begin(async (tx) => {
      await lockEmail(tx, email);
      const { user, entry } = await admitWithEntry(tx, ctx, email, prepared);
      const row = await grantOperator(tx, user.id);
      if (!row) throw new AppError('operator_exists', `${email} is already an operator.`);
      await recordAudit(tx, ctx, [
        { action: 'operator.added', target_id: user.id, diff: { email }, reason, workspace_id: INSTANCE },
      ]);
      return { ...operatorEntry(row), ...entry };
    });
  },
});
