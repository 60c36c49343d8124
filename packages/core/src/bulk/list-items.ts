import { z } from 'zod';
import { isoTime } from '../clock.ts';
import type { Context } from '../context.ts';
import { AppError } from '../errors.ts';
import { idPrefixes } from '../ids.ts';
import { type CursorScope, type List, pageByPlace, pageFields, readCursor } from '../list.ts';
import { logEntrySchema } from '../messages/index.ts';
import { operation } from '../operation.ts';
import { idField, listOf, timeField } from '../wire.ts';
import { requireFound } from './find-bulk.ts';
import { bulkOutcomes } from './plan.ts';
import { bulkById, pageOfItems, pageOfLines } from './store.ts';

const itemSchema = z
  .object({
    object: z.literal('bulk_item'),
    id: z.string().meta({ description: 'What it was done to.' }),
    outcome: z.enum(bulkOutcomes),
    reason: z.string().nullable().meta({ description: 'Why it was skipped, or has failed.' }),
    at: timeField,
  })
  .meta({ id: 'BulkItem' });
export type BulkItem = z.output<typeof itemSchema>;

/** The receipts: what became of each, in the order in which it was done. */
export const listBulkItems = operation({
  name: 'bulk.items',
  scope: null,
  summary: 'List what became of each item of a bulk operation',
  input: z.object({
    ...pageFields,
    id: idField(idPrefixes.bulk),
    outcome: z.enum(bulkOutcomes).optional(),
  }),
  output: listOf(itemSchema),
  async run(ctx, { id, limit, cursor, outcome = null }): Promise<List<BulkItem>> {
    const { workspace_id } = requireFound(ctx, id, await bulkById(ctx.sql, id));
    const scope = scopeOf(ctx, 'bulk.items', workspace_id, { id, outcome });
    const rows = await pageOfItems(ctx.sql, id, outcome, placeOf(scope, cursor), limit + 1);
    return pageByPlace(scope, rows, limit, standsAt, (row) => ({
      object: 'bulk_item',
      id: row.item_id,
      outcome: row.outcome,
      reason: row.reason,
      at: isoTime(row.at),
    }));
  },
});

/** What an export has written down, for a week: messages as the log showed them then. */
export const readExport = operation({
  name: 'bulk.export',
  scope: null,
  summary: 'Read what an export has written down',
  input: z.object({ ...pageFields, id: idField(idPrefixes.bulk) }),
  output: listOf(logEntrySchema),
  async run(ctx, { id, limit, cursor }): Promise<List<z.output<typeof logEntrySchema>>> {
    const { workspace_id, action } = requireFound(ctx, id, await bulkById(ctx.sql, id));
    if (action !== 'export') {
      throw new AppError('bulk_not_found', `${id} is no export but ${action}; its items tell what became of each.`);
    }
    const scope = scopeOf(ctx, 'bulk.export', workspace_id, { id });
    const rows = await pageOfLines(ctx.sql, id, placeOf(scope, cursor), limit + 1);
    // Written by JSON.stringify of an entry of the log.
    return pageByPlace(scope, rows, limit, standsAt, (row) => JSON.parse(row.line) as z.output<typeof logEntrySchema>);
  },
});

function scopeOf({ secret_key }: Context, list: string, workspace_id: string, filters: unknown): CursorScope {
  return { secret_key, list, workspace_id, filters };
}

function placeOf(scope: CursorScope, cursor: string | undefined): number {
  return Number(readCursor(scope, cursor) ?? 0);
}

function standsAt({ place }: { readonly place: number }): string {
  return String(place);
}
