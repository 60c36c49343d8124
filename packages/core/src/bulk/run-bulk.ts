import { transactionTime } from '@postrider/db';
import { z } from 'zod';
import { recordAudit } from '../audit/index.ts';
import { AppError } from '../operation/errors.ts';
import { requireFreshSignIn } from '../operation/fresh-sign-in.ts';
import { operation } from '../operation/operation.ts';
import { type BulkEntry, bulkEntry, bulkSchema, idOf } from './bulk-entry.ts';
import { planOf } from './plans/plan-of.ts';
import { invalidPreview, readToken } from './preview-token.ts';
import { bulkById, countOpen, insertBulk, lockStarts } from './store.ts';
import { requireTarget } from './target.ts';

export const DEFAULT_RATE = 100;
export const MAX_RATE = 1000;
/** Limits open operations per workspace, because their jobs share a queue with those of other workspaces. */
export const MAX_OPEN = 20;

/** Starts a previewed operation. Idempotent per token. */
export const runBulk = operation({
  name: 'bulk.run',
  scope: null,
  summary: 'Run a previewed bulk operation',
  input: z.object({
    token: z.string().max(100_000),
    reason: z.string().trim().min(1).max(500).meta({ description: 'Reason for the audit log.' }),
    rate_per_second: z.int().min(1).max(MAX_RATE).default(DEFAULT_RATE),
    matched: z.int().min(0).optional().meta({ description: 'The count from the preview, as confirmation.' }),
  }),
  output: bulkSchema,
  async run(ctx, { token, reason, rate_per_second, matched: typed }): Promise<BulkEntry> {
    const { id, expires_at, ...frozen } = readToken(ctx, token);
    const { workspace_id, action, filter, matched, matched_exact, cutoff_at } = frozen;
    if (typed !== undefined && typed !== matched) throw otherCount(typed, matched);
    await requireTarget(ctx, action, action === 'redrive' ? undefined : workspace_id);
    const before = await bulkById(ctx.sql, id);
    if (before) return bulkEntry(before);
    await requireFreshSignIn(ctx);
    if ((await transactionTime(ctx.sql)) > expires_at) throw invalidPreview();
    await planOf(ctx, { ...frozen, actor: ctx.actor }).check(ctx);
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
      if ((await countOpen(tx, workspace_id)) > MAX_OPEN) {
        throw new AppError(
          'bulk_limit',
          `${MAX_OPEN} bulk operations are already running. Wait until one ends or cancel one.`,
          { extra: { limit: MAX_OPEN } },
        );
      }
      await ctx.jobs.send(tx, 'bulk.run', [{ data: { bulk_id: id, turn: 0 } }]);
      const diff = { action, filter: withoutRecipient(filter), matched, matched_exact, rate_per_second };
      await recordAudit(tx, ctx, [{ action: 'bulk.started', target_id: id, diff, reason, workspace_id }]);
      return row;
    });
    ctx.jobs.wakeAll('bulk.run');
    // Null if a concurrent request with the same token was faster.
    const row = started ?? (await bulkById(ctx.sql, id));
    if (!row) throw new Error('an existing bulk operation could not be read');
    return bulkEntry(row);
  },
});

function otherCount(typed: number, matched: number): AppError {
  return new AppError('invalid_preview', `The preview matched ${matched}, not ${typed}. Nothing was started.`);
}

/**
 * Removes the recipient from a filter for the audit log, which cannot be erased; the operation itself stores the whole
 * filter.
 */
function withoutRecipient(filter: unknown): unknown {
  if (typeof filter !== 'object' || filter === null || !('to' in filter) || filter.to == null) return filter;
  return { ...filter, to: 'one address' };
}
