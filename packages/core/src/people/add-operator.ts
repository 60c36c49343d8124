import { z } from 'zod';
import { INSTANCE, recordAudit } from '../audit/index.ts';
import { AppError } from '../errors.ts';
import { operation } from '../operation.ts';
import { admitPerson, entryField, entrySchema, preparedEntry } from './admit-person.ts';
import { operatorEntry, operatorSchema } from './operator-entry.ts';
import { emailField } from './person.ts';
import { endSessions } from './session-store.ts';
import { makeOperator } from './store.ts';

/** Makes a person an operator of the whole instance. */
export const addOperator = operation({
  name: 'operators.add',
  scope: 'operator',
  summary: 'Make a person an operator; a new one gets a login link or a password, shown this once',
  input: z.object({ email: emailField, entry: entryField }),
  output: operatorSchema.extend(entrySchema.shape),
  async run(ctx, { email, entry: way }) {
    const prepared = await preparedEntry(way);
    return ctx.sql.begin(async (tx) => {
      const { user, entry } = await admitPerson(tx, ctx, email, prepared);
      const row = await makeOperator(tx, user.id);
      if (!row) throw new AppError('operator_exists', `${email} is an operator already.`);
      const is_new = entry.password !== null || entry.login_url !== null;
      if (!is_new) await endSessions(tx, user.id);
      await recordAudit(tx, ctx, [
        { action: 'operator.added', target_id: user.id, diff: { email }, workspace_id: INSTANCE },
      ]);
      return { ...operatorEntry(row), ...entry };
    });
  },
});
