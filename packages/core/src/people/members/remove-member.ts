import { z } from 'zod';
import { recordAudit } from '../../audit/index.ts';
import { idPrefixes } from '../../fields/ids.ts';
import { idField, objectName } from '../../fields/wire.ts';
import { requireFreshSignIn } from '../../operation/fresh-sign-in.ts';
import { operation } from '../../operation/operation.ts';
import { reasonField } from '../person.ts';
import { moveSessionsFrom } from '../sessions/session-store.ts';
import { deleteMember, lockAdmins, lockMember } from '../store.ts';
import { lastAdmin, memberNotFound, workspaceField } from './member-entry.ts';
import { membersOf } from './members-of.ts';

/**
 * Removes a member from a workspace. The user's next request there is rejected by every process; their sessions and the
 * API keys they created stay valid.
 */
export const removeMember = operation({
  name: 'members.remove',
  scope: null,
  summary: 'Remove a member from a workspace, starting with their next request',
  input: z.object({ user_id: idField(idPrefixes.user), workspace_id: workspaceField, reason: reasonField }),
  output: z.object({
    object: objectName('member'),
    workspace_id: idField(idPrefixes.workspace),
    id: idField(idPrefixes.user),
    removed: z.literal(true),
  }),
  async run(ctx, { user_id, workspace_id: workspace_param, reason = null }) {
    const workspace_id = await membersOf(ctx, workspace_param);
    await requireFreshSignIn(ctx);
    await ctx.sql.begin(async (tx) => {
      const admins = await lockAdmins(tx, workspace_id);
      const row = await lockMember(tx, workspace_id, user_id);
      if (!row) throw memberNotFound(user_id);
      if (admins.length === 1 && admins[0] === user_id) throw lastAdmin();
      await deleteMember(tx, workspace_id, user_id);
      await moveSessionsFrom(tx, workspace_id, user_id);
      const { email, role } = row;
      await recordAudit(tx, ctx, [
        { action: 'member.removed', target_id: user_id, diff: { email, role }, reason, workspace_id },
      ]);
    });
    return { object: 'member', workspace_id, id: user_id, removed: true };
  },
});
