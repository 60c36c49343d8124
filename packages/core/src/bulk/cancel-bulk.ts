import { z } from 'zod';
import { recordAudit } from '../audit/index.ts';
import { AppError } from '../errors.ts';
import { idPrefixes } from '../ids.ts';
import { operation } from '../operation.ts';
import { idField } from '../wire.ts';
import { type BulkEntry, bulkEntry, bulkSchema } from './bulk-entry.ts';
import { requireFound } from './find-bulk.ts';
import { lockBulk, markCanceled } from './store.ts';

/** Ends a bulk operation before its end: no item is touched after the answer. Canceled once, it answers the same again. */
export const cancelBulk = operation({
  name: 'bulk.cancel',
  scope: null,
  summary: 'End a bulk operation before its end',
  input: z.object({ id: idField(idPrefixes.bulk), reason: z.string().trim().max(500).optional() }),
  output: bulkSchema,
  async run(ctx, { id, reason = null }): Promise<BulkEntry> {
    const row = await ctx.sql.begin(async (tx) => {
      // The runner holds the row for a slice, and asks for the status in the next.
      const found = requireFound(ctx, id, await lockBulk(tx, id));
      if (found.status === 'canceled') return found;
      if (found.status === 'completed') {
        throw new AppError('bulk_finished', `${id} has ended; its items tell what became of each.`);
      }
      const canceled = await markCanceled(tx, id);
      const { done, failed, skipped, workspace_id } = canceled;
      await recordAudit(tx, ctx, [
        { action: 'bulk.canceled', target_id: id, diff: { done, failed, skipped }, reason, workspace_id },
      ]);
      return canceled;
    });
    return bulkEntry(row);
  },
});
