import { z } from 'zod';
import { listOf } from '../fields/wire.ts';
import { INSTANCE } from '../operation/access.ts';
import { operation } from '../operation/operation.ts';
import { type List, pageFields, pageOf, readCursor } from '../paging/list.ts';
import { readWorkspacePage } from './store.ts';
import { type WorkspaceEntry, workspaceEntry, workspaceSchema } from './workspace-entry.ts';

export const listWorkspaces = operation({
  name: 'workspaces.list',
  scope: 'operator',
  summary: 'List workspaces, newest first',
  input: z.object(pageFields),
  output: listOf(workspaceSchema),
  async run(ctx, { limit, cursor }): Promise<List<WorkspaceEntry>> {
    const scope = { secret_key: ctx.secret_key, list: 'workspaces', workspace_id: INSTANCE, filters: {} };
    const rows = await readWorkspacePage(ctx.sql, readCursor(scope, cursor), limit + 1);
    return pageOf(scope, rows, limit, workspaceEntry);
  },
});
