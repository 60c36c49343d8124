import { z } from 'zod';
import { listOf } from '../fields/wire.ts';
import { INSTANCE } from '../operation/access.ts';
import { operation } from '../operation/operation.ts';
import { type List, pageFields, pageOf, readCursor } from '../paging/list.ts';
import { type InvitationEntry, invitationEntry, invitationSchema, invitationTargetField } from './invitation-entry.ts';
import { invitingSide } from './invite-link.ts';
import { readInvitationPage } from './store.ts';

export const listInvitations = operation({
  name: 'invitations.list',
  scope: null,
  summary: 'List pending invitations, newest first',
  input: z.object({ ...pageFields, target: invitationTargetField }),
  output: listOf(invitationSchema),
  async run(ctx, { limit, cursor, target }): Promise<List<InvitationEntry>> {
    const workspace_id = await invitingSide(ctx, target);
    const { secret_key } = ctx;
    const scope = { secret_key, list: 'invitations', workspace_id: workspace_id ?? INSTANCE, filters: {} };
    const rows = await readInvitationPage(ctx.sql, workspace_id, readCursor(scope, cursor), limit + 1);
    return pageOf(scope, rows, limit, invitationEntry);
  },
});
