import { z } from 'zod';
import { objectName } from '../fields/wire.ts';
import { operation } from '../operation/operation.ts';
import { type PlanEntry, planEntry, planSchema } from './plan-entry.ts';
import { allPlans } from './plan-store.ts';

export interface Plans {
  readonly object: 'list';
  readonly data: readonly PlanEntry[];
}

/** Lists all plans, without paging because an instance has only a few. */
export const listPlans = operation({
  name: 'plans.list',
  scope: 'operator',
  sandbox: true,
  summary: 'List plans by name',
  input: z.object({}),
  output: z.object({ object: objectName('list'), data: z.array(planSchema).readonly() }),
  async run(ctx): Promise<Plans> {
    return { object: 'list', data: (await allPlans(ctx.sql)).map(planEntry) };
  },
});
