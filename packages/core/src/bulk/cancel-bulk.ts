import { z } from 'zod';
import { recordAudit } from '../audit/index.ts';
import { idPrefixes } from '../fields/ids.ts';
import { idField } from '../fields/wire.ts';
import { AppError } from '../operation/errors.ts';
import { operation } from '../operation/operation.ts';
import { type BulkEntry, bulkEntry, bulkSchema } from './bulk-entry.ts';
import { requireFound } from './find-bulk.ts';
import { lockBulk, markCanceled } from './store.ts';

/** Cancels a bulk operation: no item is touched after the response. Idempotent. */
export const cancelBulk = operation({
  name: 'bulk.cancel',
  scope: null,
  summary: 'Cancel a bulk operation',
  input: z.object({ id: idField(idPrefixes.bulk), reason: z.string().trim().max(500).optional() }),
  output: bulkSchema,
  async run(ctx, { id, reason = null }): Promise<BulkEntry> {
    const row = await ctx.sql.begin(async (tx) => {
      // The runner locks the row for each slice and sees the new status in the next one.
      const locked_row = requireFound(ctx, id, await lockBulk(tx, id));
      if (locked_row.status === 'canceled') return locked_row;
      if (locked_row.status === 'completed') {
        throw new AppError('bulk_finished', `${id} has ended. List its items for the results.`);
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
