import { z } from 'zod';
import { idPrefixes } from '../fields/ids.ts';
import { idField, listOf } from '../fields/wire.ts';
import { logEntrySchema } from '../messages/index.ts';
import { AppError } from '../operation/errors.ts';
import { operation } from '../operation/operation.ts';
import { type List, pageByPlace, pageFields } from '../paging/list.ts';
import { requireFound } from './find-bulk.ts';
import { cursorScope, placeAsText, placeInCursor } from './item-cursor.ts';
import { bulkById, readLinePage } from './store.ts';

/**
 * Returns the rows of an export: each message's log entry as it was when exported. Rows are deleted after 7 days
 * (forget-items.ts).
 */
export const readExport = operation({
  name: 'bulk.export',
  scope: null,
  summary: 'Read the lines of an export',
  input: z.object({ ...pageFields, id: idField(idPrefixes.bulk) }),
  output: listOf(logEntrySchema),
  async run(ctx, { id, limit, cursor }): Promise<List<z.output<typeof logEntrySchema>>> {
    const { workspace_id, action } = requireFound(ctx, id, await bulkById(ctx.sql, id));
    if (action !== 'export') {
      throw new AppError('bulk_not_found', `${id} is not an export but ${action}. List its items for the results.`);
    }
    const scope = cursorScope(ctx, 'bulk.export', workspace_id, { id });
    const rows = await readLinePage(ctx.sql, id, placeInCursor(scope, cursor), limit + 1);
    // The cast is safe because a line is stored with JSON.stringify of a log entry.
    return pageByPlace(
      scope,
      rows,
      limit,
      placeAsText,
      (row) => JSON.parse(row.line) as z.output<typeof logEntrySchema>,
    );
  },
});
