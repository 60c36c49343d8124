import { z } from 'zod';
import { refuseLimitedKey } from '../api-keys/index.ts';
import { recordAudit } from '../audit/index.ts';
import { newId } from '../fields/ids.ts';
import { INSTANCE } from '../operation/access.ts';
import type { ActorContext } from '../operation/context.ts';
import { AppError } from '../operation/errors.ts';
import { requireFreshSignIn } from '../operation/fresh-sign-in.ts';
import { operation } from '../operation/operation.ts';
import { scopeRefusal } from '../operation/scope-refusal.ts';
import {
  emailField,
  hashToken,
  insertMember,
  lockEmail,
  lockKnown,
  memberExists,
  newToken,
  reasonField,
  settledElsewhere,
  workspaceField,
} from '../people/index.ts';
import { requireRoomInPlan } from '../usage/index.ts';
import { deliverySchema, invitationEntry, invitationSchema } from './invitation-entry.ts';
import { emailInvitation, invitingSide, requireInvitationRoom } from './invite-link.ts';
import { invitedRoles } from './invited-roles.ts';
import { insertInvitation } from './store.ts';

/**
 * Emails an invitation. A user with a vouched account joins immediately and keeps their credential. Anyone else gets
 * access when they accept, and chooses a password then. A new invitation replaces a pending one.
 */
export const createInvitation = operation({
  name: 'invitations.create',
  scope: null,
  summary: 'Invite a member or an operator by email',
  input: z.object({
    email: emailField,
    role: z.enum(invitedRoles),
    workspace_id: workspaceField,
    reason: reasonField,
  }),
  output: z.object({
    invitation: invitationSchema.nullable().meta({ description: 'Null if the user joined immediately.' }),
    delivery: deliverySchema.nullable(),
  }),
  async run(ctx, { email, role, workspace_id: workspace_param, reason = null }) {
    const workspace_id = await invitingSide(ctx, role === 'operator' ? 'instance' : 'workspace', workspace_param);
    await requireFreshSignIn(ctx);
    await refuseLimitedKey(ctx);
    const vouched = scopeRefusal(ctx.actor, 'operator') === null;
    const token = newToken();
    const row = await ctx.sql.begin(async (tx) => {
      await lockEmail(tx, email);
      const known = await lockKnown(tx, email, workspace_id ?? ctx.actor.workspace_id);
      const audit = { target_id: email, diff: { email, role }, reason, workspace_id: workspace_id ?? INSTANCE };
      if (role === 'operator') {
        if (known?.operator) throw new AppError('operator_exists', `${email} is already an operator.`);
      } else if (workspace_id !== null) {
        if (known?.here) throw memberExists(email);
        await requireRoomInPlan(tx, workspace_id, 'members');
        const settled = known !== null && (known.operator || known.somewhere);
        if (settled && !vouched) throw settledElsewhere(email);
        if (settled && known.vouched) {
          await insertMember(tx, { workspace_id, user_id: known.id, role });
          await recordAudit(tx, ctx, [{ ...audit, action: 'member.added', target_id: known.id }]);
          return null;
        }
      }
      await requireInvitationRoom(tx, workspace_id);
      const invitation = await insertInvitation(tx, {
        id: newId('invitation', ctx.clock.now()),
        workspace_id,
        email,
        role,
        invited_by: inviterName(ctx),
        token_hash: hashToken(token),
        vouched,
      });
      await recordAudit(tx, ctx, [{ ...audit, action: 'invitation.created', target_id: invitation.id }]);
      return invitation;
    });
    if (row === null) return { invitation: null, delivery: null };
    return { invitation: invitationEntry(row), delivery: await emailInvitation(ctx, row, token) };
  },
});

function inviterName({ actor }: ActorContext): string {
  if (actor.kind === 'user') return actor.email;
  return actor.kind === 'key' ? 'An API key' : 'Postrider';
}
