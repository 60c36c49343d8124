import { transactionTime } from '@postrider/db';
import { z } from 'zod';
import { recordAudit } from '../audit/index.ts';
import { AppError } from '../errors.ts';
import { requireFreshSignIn } from '../fresh-sign-in.ts';
import { operation } from '../operation.ts';
import { type BulkEntry, bulkEntry, bulkSchema, idOf } from './bulk-entry.ts';
import { planOf } from './plan.ts';
import { invalidPreview, readToken } from './preview-token.ts';
import { bulkById, countOpen, insertBulk, lockStarts } from './store.ts';
import { requireTarget } from './target.ts';

export const DEFAULT_RATE = 100;
export const MOST_RATE = 1000;
/** Of one workspace at a time: each has a job that waits for its turn among those of the others. */
export const MOST_OPEN = 20;

/** Starts what a preview has shown. The same token again answers the same operation. */
export const runBulk = operation({
  name: 'bulk.run',
  scope: null,
  summary: 'Do what a preview has shown',
  input: z.object({
    token: z.string().max(100_000),
    reason: z.string().trim().min(1).max(500).meta({ description: 'Why; it stands in the audit log.' }),
    rate_per_second: z.int().min(1).max(MOST_RATE).default(DEFAULT_RATE),
  }),
  output: bulkSchema,
  async run(ctx, { token, reason, rate_per_second }): Promise<BulkEntry> {
    const { id, expires_at, ...frozen } = readToken(ctx, token);
    const { workspace_id, action, filter, matched, matched_exact, cutoff_at } = frozen;
    await requireTarget(ctx, action, action === 'redrive' ? undefined : workspace_id);
    const before = await bulkById(ctx.sql, id);
    if (before) return bulkEntry(before);
    await requireFreshSignIn(ctx);
    if ((await transactionTime(ctx.sql)) > expires_at) throw invalidPreview();
    await planOf({ ...frozen, actor: ctx.actor }).check(ctx);
    const started = await ctx.sql.begin(async (tx) => {
      const { id: actor_id, kind } = idOf(ctx.actor);
      await lockStarts(tx, workspace_id);
      const row = await insertBulk(tx, {
        id,
        workspace_id,
        action,
        filter: JSON.stringify(filter),
        cutoff_at,
        matched,
        matched_exact,
        reason,
        rate_per_second,
        actor: JSON.stringify(ctx.actor),
        actor_id,
        actor_name: ctx.actor.kind === 'user' ? ctx.actor.email : kind,
      });
      if (!row) return null;
      if ((await countOpen(tx, workspace_id)) > MOST_OPEN) {
        throw new AppError(
          'bulk_limit',
          `${MOST_OPEN} bulk operations are open already; wait until one has ended, or cancel one.`,
          { extra: { limit: MOST_OPEN } },
        );
      }
      await ctx.jobs.send(tx, 'bulk.run', [{ data: { bulk_id: id, turn: 0 } }]);
      const diff = { action, filter, matched, matched_exact, rate_per_second };
      await recordAudit(tx, ctx, [{ action: 'bulk.started', target_id: id, diff, reason, workspace_id }]);
      return row;
    });
    ctx.jobs.wake('bulk.run');
    // Null where the same token was run by two at once, and the other came first.
    const row = started ?? (await bulkById(ctx.sql, id));
    if (!row) throw new Error('a bulk operation that exists could not be read');
    return bulkEntry(row);
  },
});
