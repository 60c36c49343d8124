import { z } from 'zod';
import { idPrefixes } from '../fields/ids.ts';
import { idField, listOf } from '../fields/wire.ts';
import { ownAccess } from '../operation/access.ts';
import { operation } from '../operation/operation.ts';
import { type List, pageFields, pageOf, readCursor } from '../paging/list.ts';
import { type BulkEntry, bulkEntry, bulkSchema } from './bulk-entry.ts';
import { readBulkPage } from './store.ts';
import { requireTarget } from './target.ts';

/** Lists operations of the workspace and, for an operator, also of the instance. */
export const listBulk = operation({
  name: 'bulk.list',
  scope: null,
  summary: 'List bulk operations, newest first',
  input: z.object({
    ...pageFields,
    workspace_id: idField(idPrefixes.workspace).optional().meta({ description: 'Another workspace (operators only).' }),
  }),
  output: listOf(bulkSchema),
  async run(ctx, { limit, cursor, workspace_id }): Promise<List<BulkEntry>> {
    const reach = workspace_id === undefined ? ownAccess(ctx.actor) : [await requireTarget(ctx, null, workspace_id)];
    const scope = {
      secret_key: ctx.secret_key,
      list: 'bulk.list',
      workspace_id: ctx.actor.workspace_id,
      filters: reach,
    };
    const rows = await readBulkPage(ctx.sql, reach, readCursor(scope, cursor), limit + 1);
    return pageOf(scope, rows, limit, bulkEntry);
  },
});
