import { z } from 'zod';
import { AppError } from '../errors.ts';
import { idPrefixes } from '../ids.ts';
import { operation } from '../operation.ts';
import { idField } from '../wire.ts';
import { workspaceInReach } from '../workspaces/reach.ts';
import { workspaceNotFound } from '../workspaces/workspace-entry.ts';
import { usageSchema } from './get-usage.ts';
import { usageOfMonth } from './store.ts';

const DAY_MS = 86_400_000;
const MONTH = /^\d{4}-(?:0[1-9]|1[0-2])$/;

const monthUsageSchema = usageSchema.extend({
  projected_end_of_month: z
    .int()
    .nullable()
    .meta({ description: 'used, if the rest of the month goes on like the part of it that is over.' }),
});
export type MonthUsage = z.output<typeof monthUsageSchema>;

/** Any month of a workspace: of the own one, or of any for an operator. */
export const getMonthUsage = operation({
  name: 'usage.month',
  scope: null,
  summary: 'The mails of a month by day, what is left of the plan, and where the month is heading',
  input: z.object({
    workspace_id: idField(idPrefixes.workspace).optional(),
    month: z
      .string()
      .regex(MONTH, 'must be a month such as 2030-01')
      .optional()
      .meta({ description: 'The present one where it is left out.' }),
  }),
  output: monthUsageSchema,
  async run(ctx, input): Promise<MonthUsage> {
    const workspace_id = workspaceInReach(ctx, input.workspace_id);
    const found = await usageOfMonth(ctx.sql, workspace_id, input.month ?? null);
    if (!found) throw workspaceNotFound(workspace_id);
    const { month, now, used, limit } = found;
    const begins = Date.parse(`${month}-01T00:00:00Z`);
    const ends = Date.UTC(new Date(begins).getUTCFullYear(), new Date(begins).getUTCMonth() + 1);
    if (begins > now.getTime())
      throw new AppError('invalid_range', `${month} has not begun yet; ask for a month before.`);
    const over = now.getTime() >= ends;
    const days = over ? Math.round((ends - begins) / DAY_MS) : now.getUTCDate();
    // The first hours say little, so at least a day is taken as over.
    const elapsed = Math.max(now.getTime() - begins, DAY_MS);
    return {
      object: 'usage',
      month,
      used,
      limit,
      remaining: limit === null ? null : Math.max(0, limit - used),
      resets_at: new Date(ends).toISOString(),
      by_day: Array.from({ length: days }, (_, index) => ({
        date: `${month}-${String(index + 1).padStart(2, '0')}`,
        used: found.by_day[index] ?? 0,
      })),
      projected_end_of_month: over ? used : Math.round((used * (ends - begins)) / elapsed),
    };
  },
});
