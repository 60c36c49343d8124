import { z } from 'zod';
import { recordAudit } from '../audit/index.ts';
import { deletedField, objectName } from '../fields/wire.ts';
import { INSTANCE } from '../operation/access.ts';
import { AppError } from '../operation/errors.ts';
import { operation } from '../operation/operation.ts';
import { planName, planNotFound } from './plan-entry.ts';
import { deletePlanRow, isPlanUsed, lockPlan } from './plan-store.ts';

const deletedSchema = z.object({ object: objectName('plan'), name: z.string(), deleted: deletedField });
export type DeletedPlan = z.output<typeof deletedSchema>;

export const deletePlan = operation({
  name: 'plans.delete',
  scope: 'operator',
  summary: 'Delete a plan that no workspace is on',
  input: z.object({ name: planName }),
  output: deletedSchema,
  run: (ctx, { name }): Promise<DeletedPlan> =>
    ctx.sql.begin(async (tx) => {
      const plan = await lockPlan(tx, name);
      if (!plan) throw planNotFound(name);
      if (await isPlanUsed(tx, name)) {
        throw new AppError('plan_in_use', `Workspaces use plan ${name}. Move them to another plan first.`);
      }
      await deletePlanRow(tx, name);
      const { name: _, ...diff } = plan;
      await recordAudit(tx, ctx, [{ action: 'plan.deleted', target_id: name, diff, workspace_id: INSTANCE }]);
      return { object: 'plan', name, deleted: true };
    }),
});
