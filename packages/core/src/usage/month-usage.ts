import type { Sql } from '@postrider/db';
import { z } from 'zod';
import { isoTime } from '../fields/clock.ts';
import { idPrefixes } from '../fields/ids.ts';
import { idField } from '../fields/wire.ts';
import { accessibleWorkspace, workspaceNotFound } from '../operation/access.ts';
import { AppError } from '../operation/errors.ts';
import { operation } from '../operation/operation.ts';
import { usageSchema } from './get-usage.ts';
import { type MonthRow, readMonthRows } from './store.ts';

const MAX_IDS = 1000;
const DAY_MS = 86_400_000;
const MONTH = /^\d{4}-(?:0[1-9]|1[0-2])$/;

export const monthUsageSchema = usageSchema.omit({ plan_use: true }).extend({
  projected_end_of_month: z.int().meta({ description: 'Projected for the whole month.' }),
});
export type MonthUsage = z.output<typeof monthUsageSchema>;

const monthField = z
  .string()
  .regex(MONTH, 'must be a month such as 2025-01')
  .optional()
  .meta({ description: 'The present one where it is left out.' });

/** Returns the usage of any month: of the caller's workspace or, for an operator, of any workspace. */
export const getMonthUsage = operation({
  name: 'usage.month',
  scope: null,
  sandbox: true,
  summary: 'Monthly email volume by day, the remaining quota, and a projection',
  input: z.object({ workspace_id: idField(idPrefixes.workspace).optional(), month: monthField }),
  output: monthUsageSchema,
  async run(ctx, { workspace_id, month = null }): Promise<MonthUsage> {
    const id = accessibleWorkspace(ctx, workspace_id);
    return monthUsageOf(ctx.sql, id, month);
  },
});

export async function monthUsageOf(sql: Sql, workspace_id: string, month: string | null = null): Promise<MonthUsage> {
  const [usage] = await monthUsages(sql, [workspace_id], month);
  if (!usage) throw workspaceNotFound(workspace_id);
  return usage;
}

/** Returns the usage of one month for several workspaces, in the given order. */
export const readMonthUsages = operation({
  name: 'usage.read_many',
  scope: null,
  sandbox: true,
  summary: 'Monthly usage of several workspaces',
  input: z.object({ ids: z.array(z.string()).max(MAX_IDS), month: monthField }),
  output: z.array(monthUsageSchema).readonly(),
  async run(ctx, { ids, month = null }): Promise<readonly MonthUsage[]> {
    const workspace_ids = ids.map((id) => accessibleWorkspace(ctx, id));
    return monthUsages(ctx.sql, workspace_ids, month);
  },
});

async function monthUsages(sql: Sql, ids: readonly string[], month: string | null): Promise<readonly MonthUsage[]> {
  const rows = await readMonthRows(sql, ids, month);
  const byId = new Map(rows.map((row) => [row.workspace_id, row]));
  return ids.map((id) => {
    const row = byId.get(id);
    if (!row) throw workspaceNotFound(id);
    return monthUsage(row);
  });
}

function monthUsage({ month, now, used, limit, by_day }: MonthRow): MonthUsage {
  const begins = new Date(`${month}-01T00:00:00Z`);
  const ends_ms = Date.UTC(begins.getUTCFullYear(), begins.getUTCMonth() + 1);
  if (begins > now) throw new AppError('invalid_range', `${month} has not started yet. Use an earlier month.`);
  const is_over = now.getTime() >= ends_ms;
  const length_ms = ends_ms - begins.getTime();
  // The first hours predict little, so at least one day counts as elapsed.
  const elapsed_ms = Math.max(now.getTime() - begins.getTime(), DAY_MS);
  return {
    object: 'usage',
    month,
    used,
    limit,
    remaining: limit === null ? null : Math.max(0, limit - used),
    resets_at: isoTime(ends_ms),
    by_day: Array.from({ length: is_over ? length_ms / DAY_MS : now.getUTCDate() }, (_, index) => ({
      date: `${month}-${String(index + 1).padStart(2, '0')}`,
      used: by_day[index] ?? 0,
    })),
    projected_end_of_month: is_over ? used : Math.round((used * length_ms) / elapsed_ms),
  };
}
