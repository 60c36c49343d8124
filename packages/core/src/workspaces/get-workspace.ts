import { z } from 'zod';
import { idPrefixes } from '../fields/ids.ts';
import { idField } from '../fields/wire.ts';
import { accessibleWorkspace, workspaceNotFound } from '../operation/access.ts';
import { operation } from '../operation/operation.ts';
import { workspaceById } from './store.ts';
import { type WorkspaceEntry, workspaceEntry, workspaceSchema } from './workspace-entry.ts';

export const getWorkspace = operation({
  name: 'workspaces.get',
  scope: null,
  sandbox: true,
  summary: 'Get your workspace, or any workspace as an operator, with its plan',
  input: z.object({ id: idField(idPrefixes.workspace).optional() }),
  output: workspaceSchema,
  async run(ctx, input): Promise<WorkspaceEntry> {
    const id = accessibleWorkspace(ctx, input.id);
    const row = await workspaceById(ctx.sql, id);
    if (!row) throw workspaceNotFound(id);
    return workspaceEntry(row);
  },
});
