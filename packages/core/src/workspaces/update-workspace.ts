import { z } from 'zod';
import { changesOf, recordAudit } from '../audit/index.ts';
import { idPrefixes } from '../fields/ids.ts';
import { idField } from '../fields/wire.ts';
import { accessibleWorkspace, INSTANCE, workspaceNotFound } from '../operation/access.ts';
import { AppError } from '../operation/errors.ts';
import { operation } from '../operation/operation.ts';
import { lockWorkspaceRow, storeWorkspace } from './store.ts';
import { nameField, policyField, type WorkspaceEntry, workspaceEntry, workspaceSchema } from './workspace-entry.ts';

/** Changes the given fields of the caller's workspace or, for an operator, of any workspace. */
export const updateWorkspace = operation({
  name: 'workspaces.update',
  scope: null,
  summary: 'Update the name of a workspace, or its policy for lost SMTP replies',
  input: z.object({
    id: idField(idPrefixes.workspace).optional().meta({ description: 'Default: your own workspace.' }),
    name: nameField.optional(),
    unknown_policy: policyField.optional(),
    reason: z.string().max(500).nullish(),
  }),
  output: workspaceSchema,
  async run(ctx, { id: workspace_param, name, unknown_policy, reason = null }): Promise<WorkspaceEntry> {
    const id = accessibleWorkspace(ctx, workspace_param);
    if (name === undefined && unknown_policy === undefined) {
      throw new AppError('missing_field', 'Set name, unknown_policy or both.');
    }
    return ctx.sql.begin(async (tx) => {
      const row = await lockWorkspaceRow(tx, id);
      if (!row) throw workspaceNotFound(id);
      const before = { name: row.workspace_name, unknown_policy: row.unknown_policy };
      const after = { name: name ?? before.name, unknown_policy: unknown_policy ?? before.unknown_policy };
      const diff = changesOf(before, after, ['name', 'unknown_policy']);
      if (diff) {
        await storeWorkspace(tx, { id, ...after });
        const fact = { action: 'workspace.updated', target_id: id, diff, reason } as const;
        // An operator's change to another workspace appears in the audit logs of that workspace and of the instance.
        const chains = id === ctx.actor.workspace_id ? [id] : [id, INSTANCE];
        await recordAudit(
          tx,
          ctx,
          chains.map((workspace_id) => ({ ...fact, workspace_id })),
        );
      }
      return workspaceEntry({ ...row, workspace_name: after.name, unknown_policy: after.unknown_policy });
    });
  },
});
