import { z } from 'zod';
import { isoTime } from '../fields/clock.ts';
import { idPrefixes } from '../fields/ids.ts';
import { idField, listOf, timeField } from '../fields/wire.ts';
import { logEntrySchema } from '../messages/index.ts';
import type { Context } from '../operation/context.ts';
import { AppError } from '../operation/errors.ts';
import { operation } from '../operation/operation.ts';
import { type CursorScope, type List, pageByPlace, pageFields, readCursor } from '../paging/list.ts';
import { requireFound } from './find-bulk.ts';
import { bulkOutcomes } from './plans/plan.ts';
import { bulkById, pageOfItems, pageOfLines } from './store.ts';

const itemSchema = z
  .object({
    object: z.literal('bulk_item'),
    id: z.string().meta({ description: 'The target of the action.' }),
    outcome: z.enum(bulkOutcomes),
    reason: z.string().nullable().meta({ description: 'Why it was skipped or failed.' }),
    at: timeField,
  })
  .meta({ id: 'BulkItem' });
export type BulkItem = z.output<typeof itemSchema>;

/** Results per item, in the order in which they were done. */
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

/** The lines of an export, kept for a week: messages as the log showed them then. */
export const readExport = operation({
  name: 'bulk.export',
  scope: null,
  summary: 'Read the lines of an export',
  input: z.object({ ...pageFields, id: idField(idPrefixes.bulk) }),
  output: listOf(logEntrySchema),
  async run(ctx, { id, limit, cursor }): Promise<List<z.output<typeof logEntrySchema>>> {
    const { workspace_id, action } = requireFound(ctx, id, await bulkById(ctx.sql, id));
    if (action !== 'export') {
      throw new AppError('bulk_not_found', `${id} is not an export but ${action}; its items show each result.`);
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
