import { z } from 'zod';
import { recordAudit } from '../audit/index.ts';
import { idPrefixes } from '../fields/ids.ts';
import { idField, objectName } from '../fields/wire.ts';
import { INSTANCE } from '../operation/access.ts';
import { operation } from '../operation/operation.ts';
import { invitationNotFound, invitationTargetField } from './invitation-entry.ts';
import { invitingSide } from './invite-link.ts';
import { closeInvitation } from './store.ts';

export const revokeInvitation = operation({
  name: 'invitations.revoke',
  scope: null,
  summary: 'Revoke a pending invitation, whose link stops working',
  input: z.object({ id: idField(idPrefixes.invitation), target: invitationTargetField }),
  output: z.object({
    object: objectName('invitation'),
    id: idField(idPrefixes.invitation),
    email: z.string(),
    revoked: z.literal(true),
  }),
  async run(ctx, { id, target }) {
    const workspace_id = await invitingSide(ctx, target);
    const { email } = await ctx.sql.begin(async (tx) => {
      const closed = await closeInvitation(tx, workspace_id, id);
      if (!closed) throw invitationNotFound(id);
      const diff = { email: closed.email, role: closed.role };
      await recordAudit(tx, ctx, [
        { action: 'invitation.revoked', target_id: id, diff, workspace_id: workspace_id ?? INSTANCE },
      ]);
      return closed;
    });
    return { object: 'invitation' as const, id, email, revoked: true as const };
  },
});
