import { z } from 'zod';
import { recordAudit } from '../../audit/index.ts';
import { idPrefixes } from '../../fields/ids.ts';
import { idField, objectName } from '../../fields/wire.ts';
import { INSTANCE } from '../../operation/access.ts';
import { AppError } from '../../operation/errors.ts';
import { requireFreshSignIn } from '../../operation/fresh-sign-in.ts';
import { operation } from '../../operation/operation.ts';
import { reasonField } from '../person.ts';
import { endSessions } from '../sessions/session-store.ts';
import { lockOperators, revokeOperator } from '../store.ts';

/** Revokes the operator role. Workspace roles are unaffected. */
export const removeOperator = operation({
  name: 'operators.remove',
  scope: 'operator',
  summary: 'Remove an operator and end their sessions',
  input: z.object({ user_id: idField(idPrefixes.user), reason: reasonField }),
  output: z.object({ object: objectName('operator'), id: idField(idPrefixes.user), removed: z.literal(true) }),
  async run(ctx, { user_id, reason = null }) {
    await requireFreshSignIn(ctx);
    await ctx.sql.begin(async (tx) => {
      const operators = await lockOperators(tx);
      if (!operators.includes(user_id)) {
        throw new AppError('user_not_found', `No operator with ID ${user_id.slice(0, 64)}.`);
      }
      if (operators.length === 1) {
        throw new AppError('last_admin', 'This is the only operator. Add another one first.');
      }
      await revokeOperator(tx, user_id);
      await endSessions(tx, user_id);
      await recordAudit(tx, ctx, [{ action: 'operator.removed', target_id: user_id, reason, workspace_id: INSTANCE }]);
    });
    return { object: 'operator', id: user_id, removed: true };
  },
});
