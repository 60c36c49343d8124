import { z } from 'zod';
import { refuseLimitedKey } from '../../api-keys/index.ts';
import { recordAudit } from '../../audit/index.ts';
import { AppError } from '../../operation/errors.ts';
import { requireFreshSignIn } from '../../operation/fresh-sign-in.ts';
import { operation } from '../../operation/operation.ts';
import { scopeRefusal } from '../../operation/scope-refusal.ts';
import { requireRoomInPlan } from '../../usage/index.ts';
import { admitWithEntry, entryField, entrySchema, knownAs, preparedEntry } from '../admit-person.ts';
import { emailField, reasonField } from '../person.ts';
import { insertMember, lockEmail, lockKnown, lockMember } from '../store.ts';
import { memberEntry, memberSchema, roleField, workspaceField } from './member-entry.ts';
import { membersOf } from './members-of.ts';

/**
 * Adds a member. A user who is new, or is no longer a member of any workspace, gets a credential that only this
 * response contains. Only an operator can add a member of another workspace. That member keeps a credential that an
 * operator issued; any other credential is reset, because the admin who first invited the user has seen it. A used link
 * or a changed password does not rule out that the admin still has access, because the admin may have used the link or
 * changed the password.
 */
export const inviteMember = operation({
  name: 'members.invite',
  scope: null,
  summary: 'Add a member to a workspace; new or reset users get a login link or password, returned once',
  input: z.object({
    email: emailField,
    role: roleField,
    entry: entryField,
    workspace_id: workspaceField,
    reason: reasonField,
  }),
  output: memberSchema.extend(entrySchema.shape),
  async run(ctx, { email, role, entry: entry_method, workspace_id: workspace_param, reason = null }) {
    const workspace_id = await membersOf(ctx, workspace_param);
    await requireFreshSignIn(ctx);
    await refuseLimitedKey(ctx);
    const prepared = await preparedEntry(ctx, workspace_id, entry_method);
    return ctx.sql.begin(async (tx) => {
      await lockEmail(tx, email);
      const known = await lockKnown(tx, email, workspace_id);
      if (known?.here) throw memberExists(email);
      await requireRoomInPlan(tx, workspace_id, 'members');
      const settled = known !== null && (known.operator || known.somewhere);
      if (settled && scopeRefusal(ctx.actor, 'operator')) throw settledElsewhere(email);
      const { user, entry } =
        settled && known.vouched ? knownAs(known) : await admitWithEntry(tx, ctx, email, prepared);
      if (!(await insertMember(tx, { workspace_id, user_id: user.id, role }))) throw memberExists(email);
      const row = await lockMember(tx, workspace_id, user.id);
      if (!row) throw new Error('a member was not stored');
      await recordAudit(tx, ctx, [
        { action: 'member.added', target_id: user.id, diff: { email, role }, reason, workspace_id },
      ]);
      return { ...memberEntry(row), ...entry };
    });
  },
});

export function settledElsewhere(email: string): AppError {
  return new AppError('user_exists', `${email} belongs to another workspace. Ask an operator to add them here.`);
}

export function memberExists(email: string): AppError {
  return new AppError('member_exists', `${email} is already a member of this workspace. Change their role instead.`);
}
