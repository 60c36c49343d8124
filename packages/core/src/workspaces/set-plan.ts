import { z } from 'zod';
import { recordAudit } from '../audit/index.ts';
import { idPrefixes } from '../fields/ids.ts';
import { idField } from '../fields/wire.ts';
import { INSTANCE, workspaceNotFound } from '../operation/access.ts';
import { operation } from '../operation/operation.ts';
import { planName, planNotFound } from './plan-entry.ts';
import { lockPlan } from './plan-store.ts';
import { lockWorkspaceRow, storePlanOf, workspaceById } from './store.ts';
import { type WorkspaceEntry, workspaceEntry, workspaceSchema } from './workspace-entry.ts';

/** Puts a workspace on another plan. Its limits apply from the next request; messages sent this month stay counted. */
export const setWorkspacePlan = operation({
  name: 'workspaces.set_plan',
  scope: 'operator',
  summary: 'Change the plan of a workspace, starting with its next request',
  input: z.object({ id: idField(idPrefixes.workspace), plan: planName, reason: z.string().max(500).nullish() }),
  output: workspaceSchema,
  run: (ctx, { id, plan, reason = null }): Promise<WorkspaceEntry> =>
    ctx.sql.begin(async (tx) => {
      const before = await lockWorkspaceRow(tx, id);
      if (!before) throw workspaceNotFound(id);
      if (!(await lockPlan(tx, plan))) throw planNotFound(plan);
      if (before.name === plan) return workspaceEntry(before);
      await storePlanOf(tx, id, plan);
      const after = await workspaceById(tx, id);
      const fact = {
        action: 'workspace.plan_set',
        target_id: id,
        diff: { plan: [before.name, plan] },
        reason,
      } as const;
      await recordAudit(tx, ctx, [
        { ...fact, workspace_id: id },
        { ...fact, workspace_id: INSTANCE },
      ]);
      return workspaceEntry(after ?? before);
    }),
});
