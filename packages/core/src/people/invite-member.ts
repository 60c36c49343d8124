import { z } from 'zod';
import { recordAudit } from '../audit/index.ts';
import { AppError } from '../errors.ts';
import { operation } from '../operation.ts';
import { admitPerson, entryField, entrySchema, preparedEntry } from './admit-person.ts';
import { memberEntry, memberSchema, roleField, workspaceField } from './member-entry.ts';
import { emailField } from './person.ts';
import { insertMember, lockMember } from './store.ts';
import { workspaceInReach } from './workspace-in-reach.ts';

/** Makes a person a member. Who is new here gets something to sign in with, which is in this answer and nowhere else. */
export const inviteMember = operation({
  name: 'members.invite',
  scope: null,
  summary: 'Add a member to a workspace; a new person gets a login link or a password, shown this once',
  input: z.object({ email: emailField, role: roleField, entry: entryField, workspace_id: workspaceField }),
  output: memberSchema.extend(entrySchema.shape),
  async run(ctx, { email, role, entry: way, workspace_id: named }) {
    const workspace_id = await workspaceInReach(ctx, named);
    const prepared = await preparedEntry(way);
    return ctx.sql.begin(async (tx) => {
      const { user, entry } = await admitPerson(tx, ctx, email, prepared);
      if (!(await insertMember(tx, { workspace_id, user_id: user.id, role }))) {
        throw new AppError(
          'member_exists',
          `${email} is a member of this workspace already; change their role instead.`,
        );
      }
      const row = await lockMember(tx, workspace_id, user.id);
      if (!row) throw new Error('a member was not stored');
      await recordAudit(tx, ctx, [{ action: 'member.added', target_id: user.id, diff: { email, role }, workspace_id }]);
      return { ...memberEntry(row), ...entry };
    });
  },
});
