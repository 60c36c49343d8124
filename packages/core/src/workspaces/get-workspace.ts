import { z } from 'zod';
import { idPrefixes } from '../ids.ts';
import { operation } from '../operation.ts';
import { workspaceInReach, workspaceNotFound } from '../reach.ts';
import { idField } from '../wire.ts';
import { workspaceById } from './store.ts';
import { type WorkspaceEntry, workspaceEntry, workspaceSchema } from './workspace-entry.ts';

export const getWorkspace = operation({
  name: 'workspaces.get',
  scope: null,
  summary: 'A workspace with its plan: the own one, or any for an operator',
  input: z.object({ id: idField(idPrefixes.workspace).optional() }),
  output: workspaceSchema,
  async run(ctx, input): Promise<WorkspaceEntry> {
    const id = workspaceInReach(ctx, input.id);
    const row = await workspaceById(ctx.sql, id);
    if (!row) throw workspaceNotFound(id);
    return workspaceEntry(row);
  },
});
