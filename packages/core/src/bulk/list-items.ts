import { z } from 'zod';
import { isoTime } from '../fields/clock.ts';
import { idPrefixes } from '../fields/ids.ts';
import { idField, listOf, objectName, timeField } from '../fields/wire.ts';
import { operation } from '../operation/operation.ts';
import { type List, pageByPlace, pageFields } from '../paging/list.ts';
import { requireFound } from './find-bulk.ts';
import { cursorScope, placeAsText, placeInCursor } from './item-cursor.ts';
import { bulkOutcomes } from './plans/plan.ts';
import { bulkById, readItemPage } from './store.ts';

const itemSchema = z
  .object({
    object: objectName('bulk_item'),
    id: z.string().meta({ description: 'The target of the action.' }),
    outcome: z.enum(bulkOutcomes),
    reason: z.string().nullable().meta({ description: 'Why it was skipped or failed.' }),
    at: timeField,
  })
  .meta({ id: 'BulkItem' });
export type BulkItem = z.output<typeof itemSchema>;

/** Returns results per item, in the order they were processed. */
export const listBulkItems = operation({
  name: 'bulk.items',
  scope: null,
  summary: 'List the result of each item of a bulk operation',
  input: z.object({
    ...pageFields,
    id: idField(idPrefixes.bulk),
    outcome: z.enum(bulkOutcomes).optional(),
  }),
  output: listOf(itemSchema),
  async run(ctx, { id, limit, cursor, outcome = null }): Promise<List<BulkItem>> {
    const { workspace_id } = requireFound(ctx, id, await bulkById(ctx.sql, id));
    const scope = cursorScope(ctx, 'bulk.items', workspace_id, { id, outcome });
    const rows = await readItemPage(ctx.sql, id, outcome, placeInCursor(scope, cursor), limit + 1);
    return pageByPlace(scope, rows, limit, placeAsText, (row) => ({
      object: 'bulk_item',
      id: row.item_id,
      outcome: row.outcome,
      reason: row.reason,
      at: isoTime(row.at),
    }));
  },
});
