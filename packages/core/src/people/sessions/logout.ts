import { z } from 'zod';
import { recordAudit } from '../../audit/index.ts';
import { objectName } from '../../fields/wire.ts';
import { operation } from '../../operation/operation.ts';
import { requirePerson } from '../person.ts';
import { chainOf } from '../roles.ts';
import { deleteSession } from './session-store.ts';

/** Ends the session on the server, so that copies of its cookie become worthless too. */
export const logout = operation({
  name: 'people.logout',
  scope: null,
  without_factor: true,
  summary: 'End the current session',
  input: z.object({}),
  output: z.object({ object: objectName('session'), ended: z.literal(true) }),
  async run(ctx) {
    const actor = requirePerson(ctx);
    await ctx.sql.begin(async (tx) => {
      await deleteSession(tx, actor.session_id);
      await recordAudit(tx, ctx, [
        { action: 'user.signed_out', target_id: actor.user_id, workspace_id: chainOf(actor) },
      ]);
    });
    return { object: 'session', ended: true };
  },
});
