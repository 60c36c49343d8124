import { z } from 'zod';
import { refuseLimitedKey } from '../api-keys/index.ts';
import { recordAudit } from '../audit/index.ts';
import { idPrefixes } from '../fields/ids.ts';
import { idField } from '../fields/wire.ts';
import { INSTANCE } from '../operation/access.ts';
import { requireFreshSignIn } from '../operation/fresh-sign-in.ts';
import { operation } from '../operation/operation.ts';
import { scopeRefusal } from '../operation/scope-refusal.ts';
import { hashToken, newToken } from '../people/index.ts';
import { deliverySchema, invitationNotFound, invitationTargetField } from './invitation-entry.ts';
import { emailInvitation, invitingSide, requireInvitationRoom } from './invite-link.ts';
import { renewInvitation } from './store.ts';

/** Emails a new link, because only a hash of the earlier one is stored. The earlier link stops working. */
export const resendInvitation = operation({
  name: 'invitations.resend',
  scope: null,
  summary: 'Email a pending invitation again, with a new link',
  input: z.object({ id: idField(idPrefixes.invitation), target: invitationTargetField }),
  output: deliverySchema,
  async run(ctx, { id, target }) {
    const workspace_id = await invitingSide(ctx, target);
    await requireFreshSignIn(ctx);
    await refuseLimitedKey(ctx);
    const token = newToken();
    const row = await ctx.sql.begin(async (tx) => {
      await requireInvitationRoom(tx, workspace_id);
      const vouched = scopeRefusal(ctx.actor, 'operator') === null;
      const renewed = await renewInvitation(tx, workspace_id, id, { token_hash: hashToken(token), vouched });
      if (!renewed) throw invitationNotFound(id);
      await recordAudit(tx, ctx, [
        { action: 'invitation.resent', target_id: id, workspace_id: workspace_id ?? INSTANCE },
      ]);
      return renewed;
    });
    return emailInvitation(ctx, row, token);
  },
});
