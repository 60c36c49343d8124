import { z } from 'zod';
import { refuseLimitedKey } from '../../api-keys/index.ts';
import { recordAudit } from '../../audit/index.ts';
import { idPrefixes } from '../../fields/ids.ts';
import { idField } from '../../fields/wire.ts';
import { requireFreshSignIn } from '../../operation/fresh-sign-in.ts';
import { operation } from '../../operation/operation.ts';
import { reasonField } from '../person.ts';
import { lockAdmins, lockMember, updateRole } from '../store.ts';
import { lastAdmin, memberEntry, memberNotFound, memberSchema, roleField, workspaceField } from './member-entry.ts';
import { membersOf } from './members-of.ts';

/** Changes a member's role. The new role applies to the member's next request, on every process. */
export const setMemberRole = operation({
  name: 'members.set_role',
  scope: null,
  summary: "Change a member's role, starting with their next request",
  input: z.object({
    user_id: idField(idPrefixes.user),
    role: roleField,
    workspace_id: workspaceField,
    reason: reasonField,
  }),
  output: memberSchema,
  async run(ctx, { user_id, role, workspace_id: workspace_param, reason = null }) {
    const workspace_id = await membersOf(ctx, workspace_param);
    await requireFreshSignIn(ctx);
    await refuseLimitedKey(ctx);
    return ctx.sql.begin(async (tx) => {
      const admins = await lockAdmins(tx, workspace_id);
      const row = await lockMember(tx, workspace_id, user_id);
      if (!row) throw memberNotFound(user_id);
      if (row.role === role) return memberEntry(row);
      if (role !== 'admin' && admins.length === 1 && admins[0] === user_id) throw lastAdmin();
      await updateRole(tx, workspace_id, user_id, role);
      await recordAudit(tx, ctx, [
        {
          action: 'member.role_changed',
          target_id: user_id,
          diff: { role: { from: row.role, to: role } },
          reason,
          workspace_id,
        },
      ]);
      return memberEntry({ ...row, role });
    });
  },
});
