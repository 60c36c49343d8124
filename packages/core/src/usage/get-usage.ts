import { z } from 'zod';
import { objectName, timeField } from '../fields/wire.ts';
import { operation } from '../operation/operation.ts';
import { planUseOf, planUseSchema } from './plan-limits.ts';
import { monthUsage } from './store.ts';

export const usageSchema = z
  .object({
    object: objectName('usage'),
    month: z.string().meta({ description: 'The calendar month in UTC.', examples: ['2030-01'] }),
    used: z.int().meta({
      description: 'Emails accepted this month, by recipient, without those canceled before their first attempt.',
    }),
    limit: z.int().nullable().meta({ description: 'null: the plan has no monthly limit.' }),
    remaining: z.int().nullable().meta({ description: 'Emails left this month. null: no limit.' }),
    resets_at: timeField.meta({ description: 'When the next month starts, in UTC.' }),
    by_day: z
      .array(
        z.object({
          date: z.string().meta({ format: 'date', description: 'The day in UTC.' }),
          used: z.int().meta({ description: 'Emails accepted on this day, counted in the same way.' }),
        }),
      )
      .readonly()
      .meta({ description: 'Every day of the month until today.' }),
    plan_use: planUseSchema,
  })
  .meta({ id: 'Usage', description: 'Each unique recipient counts as one email.' });
export type Usage = z.output<typeof usageSchema>;

/** Returns how much the workspace has sent this month and how much of its plan is left. */
export const getUsage = operation({
  name: 'usage.get',
  scope: null,
  sandbox: true,
  summary: "Get this month's email volume by day, and the remaining quota",
  input: z.object({}),
  output: usageSchema,
  run: (ctx) => usageOf(ctx, ctx.actor.workspace_id),
});

export async function usageOf(
  ctx: { readonly sql: Parameters<typeof monthUsage>[0] },
  workspace_id: string,
): Promise<Usage> {
  const [{ now, used, by_day, limit }, uses] = await Promise.all([
    monthUsage(ctx.sql, workspace_id),
    planUseOf(ctx.sql, [workspace_id]),
  ]);
  const plan_use = uses.get(workspace_id);
  if (!plan_use) throw new Error('an actor belongs to no workspace');
  const month = now.toISOString().slice(0, 7);
  const today = now.getUTCDate();
  return {
    object: 'usage',
    month,
    used,
    limit,
    remaining: limit === null ? null : Math.max(0, limit - used),
    resets_at: new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + 1)).toISOString(),
    by_day: Array.from({ length: today }, (_, index) => ({
      date: `${month}-${String(index + 1).padStart(2, '0')}`,
      used: by_day[index] ?? 0,
    })),
    plan_use,
  };
}
