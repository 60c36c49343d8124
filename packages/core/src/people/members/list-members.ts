import { z } from 'zod';
import { listOf } from '../../fields/wire.ts';
import { operation } from '../../operation/operation.ts';
import { type List, pageFields, pageOf, readCursor } from '../../paging/list.ts';
import { readMemberPage } from '../store.ts';
import { type MemberEntry, memberEntry, memberSchema, workspaceField } from './member-entry.ts';
import { membersOf } from './members-of.ts';

export const listMembers = operation({
  name: 'members.list',
  scope: null,
  summary: 'List workspace members, newest first',
  input: z.object({ ...pageFields, workspace_id: workspaceField }),
  output: listOf(memberSchema),
  async run(ctx, { limit, cursor, workspace_id: workspace_param }): Promise<List<MemberEntry>> {
    const workspace_id = await membersOf(ctx, workspace_param);
    const scope = { secret_key: ctx.secret_key, list: 'members', workspace_id, filters: {} };
    const rows = await readMemberPage(ctx.sql, workspace_id, readCursor(scope, cursor), limit + 1);
    return pageOf(scope, rows, limit, memberEntry);
  },
});
