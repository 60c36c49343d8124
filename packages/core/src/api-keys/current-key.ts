import { z } from 'zod';
import { AppError } from '../errors.ts';
import { operation } from '../operation.ts';
import { type Usage, usageOf } from '../usage/get-usage.ts';
import { type KeyEntry, keyEntry } from './key-entry.ts';
import { keyById, type PlanFacts, planOf } from './store.ts';

export interface CurrentKey extends KeyEntry {
  readonly plan: string;
  readonly limits: Omit<PlanFacts, 'plan'>;
  readonly usage: Usage;
}

/** The key of the request itself: what it may do, and what is left of the plan. */
export const currentKey = operation({
  name: 'api_keys.current',
  scope: null,
  input: z.object({}),
  async run(ctx): Promise<CurrentKey> {
    const { actor } = ctx;
    if (actor.kind !== 'key') throw new AppError('api_key_not_found', 'This request was not made with an API key.');
    const [row, { plan, ...limits }, usage] = await Promise.all([
      keyById(ctx.sql, actor.workspace_id, actor.key_id),
      planOf(ctx.sql, actor.workspace_id),
      usageOf(ctx, actor.workspace_id),
    ]);
    if (!row) throw new Error('a key that was just checked is gone');
    return { ...keyEntry(row), plan, limits, usage };
  },
});
