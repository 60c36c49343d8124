import { z } from 'zod';
import { operation } from '../operation.ts';
import { monthUsage } from './store.ts';

export interface Usage {
  readonly object: 'usage';
  /** As YYYY-MM, in UTC. */
  readonly month: string;
  readonly used: number;
  readonly limit: number | null;
  readonly remaining: number | null;
  readonly resets_at: string;
  readonly by_day: readonly { readonly date: string; readonly used: number }[];
}

/** What the workspace has sent this month, and how much is left of its plan. */
export const getUsage = operation({
  name: 'usage.get',
  scope: null,
  input: z.object({}),
  run: (ctx) => usageOf(ctx, ctx.actor.workspace_id),
});

export async function usageOf(
  ctx: { readonly sql: Parameters<typeof monthUsage>[0] },
  workspace_id: string,
): Promise<Usage> {
  const { now, used, by_day, limit } = await monthUsage(ctx.sql, workspace_id);
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
  };
}
