import { z } from 'zod';
import { accessibleWorkspace, workspaceNotFound } from '../operation/access.ts';
import { operation } from '../operation/operation.ts';
import { type PlanUse, planUseOf, planUseSchema } from './plan-limits.ts';

const MAX_IDS = 1000;

/** Returns plan usage in the given order. */
export const readPlanUses = operation({
  name: 'usage.read_plan_uses',
  scope: null,
  sandbox: true,
  summary: 'Plan usage of several workspaces',
  input: z.object({ ids: z.array(z.string()).max(MAX_IDS) }),
  output: z.array(planUseSchema).readonly(),
  async run(ctx, { ids }): Promise<readonly PlanUse[]> {
    const uses = await planUseOf(
      ctx.sql,
      ids.map((id) => accessibleWorkspace(ctx, id)),
    );
    return ids.map((id) => {
      const use = uses.get(id);
      if (!use) throw workspaceNotFound(id);
      return use;
    });
  },
});
