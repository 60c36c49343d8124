import { z } from 'zod';
import { refuseLimitedKey } from '../api-keys/index.ts';
import { recordAudit } from '../audit/index.ts';
import { AppError } from '../errors.ts';
import { requireFreshSignIn } from '../fresh-sign-in.ts';
import { operation } from '../operation.ts';
import { scopeRefusal } from '../scope-refusal.ts';
import { admitAnew, entryField, entrySchema, knownAs, preparedEntry } from './admit-person.ts';
import { memberEntry, memberSchema, roleField, workspaceField } from './member-entry.ts';
import { membersOf } from './members-of.ts';
import { emailField, reasonField } from './person.ts';
import { insertMember, lockKnown, lockMember } from './store.ts';

/**
 * Makes a person a member. Who is new, or a member of nothing any more, gets something to sign in with, which is in this
 * answer and nowhere else. Who is a member elsewhere is added by an operator only. They keep what they sign in with if an
 * operator gave it to them. Otherwise they begin anew, because the admin who first invited them was shown it and may
 * still hold it, even where a link was followed or the password changed since: the admin may have done either.
 */
export const inviteMember = operation({
  name: 'members.invite',
  scope: null,
  summary: 'Add a member to a workspace; who is new or begins anew gets a login link or a password, shown this once',
  input: z.object({
    email: emailField,
    role: roleField,
    entry: entryField,
    workspace_id: workspaceField,
    reason: reasonField,
  }),
  output: memberSchema.extend(entrySchema.shape),
  async run(ctx, { email, role, entry: way, workspace_id: named, reason = null }) {
    const workspace_id = await membersOf(ctx, named);
    await requireFreshSignIn(ctx);
    await refuseLimitedKey(ctx);
    const prepared = await preparedEntry(way);
    return ctx.sql.begin(async (tx) => {
      const known = await lockKnown(tx, email, workspace_id);
      if (known?.here) throw memberExists(email);
      const settled = known !== null && (known.operator || known.somewhere);
      if (settled && scopeRefusal(ctx.actor, 'operator')) {
        throw new AppError('user_exists', `${email} is known in another workspace; ask an operator to add them here.`);
      }
      const { user, entry } = settled && known.vouched ? knownAs(known) : await admitAnew(tx, ctx, email, prepared);
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

function memberExists(email: string): AppError {
  return new AppError('member_exists', `${email} is a member of this workspace already; change their role instead.`);
}
