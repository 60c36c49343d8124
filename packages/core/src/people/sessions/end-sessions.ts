import { z } from 'zod';
import { recordAudit } from '../../audit/index.ts';
import { idPrefixes } from '../../fields/ids.ts';
import { idField, objectName } from '../../fields/wire.ts';
import { AppError } from '../../operation/errors.ts';
import { operation } from '../../operation/operation.ts';
import { requirePerson } from '../person.ts';
import { chainOf } from '../roles.ts';
import { deleteOtherSessions, deleteOwnSession } from './session-store.ts';

/** Ends one of the caller's sessions, with its bearer tokens. */
export const endSession = operation({
  name: 'people.end_session',
  scope: null,
  without_factor: true,
  summary: 'End one of your sessions',
  reasons: ['session_not_found'],
  input: z.object({ session_id: idField(idPrefixes.session) }),
  output: z.object({ object: objectName('session'), id: idField(idPrefixes.session), ended: z.literal(true) }),
  async run(ctx, { session_id }) {
    const actor = requirePerson(ctx);
    await ctx.sql.begin(async (tx) => {
      if (!(await deleteOwnSession(tx, actor.user_id, session_id)))
        throw new AppError('session_not_found', 'You have no session with this ID. It may have ended.');
      await recordAudit(tx, ctx, [
        { action: 'user.session_ended', target_id: actor.user_id, workspace_id: chainOf(actor) },
      ]);
    });
    return { object: 'session' as const, id: session_id, ended: true as const };
  },
});

/** Ends the caller's sessions but the current one. */
export const endOtherSessions = operation({
  name: 'people.end_other_sessions',
  scope: null,
  without_factor: true,
  summary: 'End all your sessions but this one',
  input: z.object({}),
  output: z.object({ object: objectName('session'), ended_sessions: z.int() }),
  async run(ctx) {
    const actor = requirePerson(ctx);
    const ended_sessions = await ctx.sql.begin(async (tx) => {
      const count = await deleteOtherSessions(tx, actor.user_id, actor.session_id);
      await recordAudit(tx, ctx, [
        {
          action: 'user.other_sessions_ended',
          target_id: actor.user_id,
          diff: { count },
          workspace_id: chainOf(actor),
        },
      ]);
      return count;
    });
    return { object: 'session' as const, ended_sessions };
  },
});
