import { z } from 'zod';
import { changesOf, recordAudit } from '../audit/index.ts';
import { INSTANCE } from '../operation/access.ts';
import { operation } from '../operation/operation.ts';
import {
  limitFields,
  limitNames,
  type PlanEntry,
  planEntry,
  planName,
  planNotFound,
  planSchema,
} from './plan-entry.ts';
import { lockPlan, storePlan } from './plan-store.ts';

/** Changes the given limits for every workspace on the plan, from its next request on. */
export const updatePlan = operation({
  name: 'plans.update',
  scope: 'operator',
  summary: 'Change the limits of a plan, starting with the next request',
  input: z.object({ name: planName, ...z.object(limitFields).partial().shape, reason: z.string().max(500).nullish() }),
  output: planSchema,
  run: (ctx, { name, reason = null, ...limits }): Promise<PlanEntry> =>
    ctx.sql.begin(async (tx) => {
      const before = await lockPlan(tx, name);
      if (!before) throw planNotFound(name);
      const fields = Object.fromEntries(Object.entries(limits).filter(([, limit]) => limit !== undefined));
      const after = { ...before, ...fields };
      const diff = changesOf(before, after, limitNames);
      if (diff) {
        await storePlan(tx, after);
        await recordAudit(tx, ctx, [{ action: 'plan.updated', target_id: name, diff, reason, workspace_id: INSTANCE }]);
      }
      return planEntry(after);
    }),
});
