import { z } from 'zod';
import { mayAccess, requireAdministrator } from '../operation/access.ts';
import { operation } from '../operation/operation.ts';
import { workspacesByIds } from './store.ts';
import { type WorkspaceEntry, workspaceEntry, workspaceSchema } from './workspace-entry.ts';

const MAX_IDS = 1000;

/** Returns workspaces by id, in the given order; null for those the caller may not see. */
export const readWorkspaces = operation({
  name: 'workspaces.read_many',
  scope: null,
  sandbox: true,
  summary: 'Workspaces by ID',
  input: z.object({ ids: z.array(z.string()).max(MAX_IDS) }),
  output: z.array(workspaceSchema.nullable()).readonly(),
  async run({ sql, actor }, { ids }): Promise<readonly (WorkspaceEntry | null)[]> {
    requireAdministrator(actor);
    const accessible_ids = ids.filter((id) => mayAccess(actor, id));
    const rows = new Map((await workspacesByIds(sql, accessible_ids)).map((row) => [row.id, row]));
    return ids.map((id) => {
      const row = rows.get(id);
      return row ? workspaceEntry(row) : null;
    });
  },
});
