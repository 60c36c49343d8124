import { z } from 'zod';
import { listOf } from '../fields/wire.ts';
import { operation } from '../operation/operation.ts';
import { type List, pageFields, pageOf, readCursor } from '../paging/list.ts';
import { type ErasureEntry, erasureEntry, erasureSchema } from './erasure-entry.ts';
import { readErasurePage } from './store.ts';

export const listErasures = operation({
  name: 'erasures.list',
  scope: 'admin',
  summary: 'List erasure receipts, newest first',
  input: z.object(pageFields),
  output: listOf(erasureSchema),
  async run(ctx, { limit, cursor }): Promise<List<ErasureEntry>> {
    const { workspace_id } = ctx.actor;
    const scope = { secret_key: ctx.secret_key, list: 'erasures', workspace_id, filters: null };
    const rows = await readErasurePage(ctx.sql, workspace_id, readCursor(scope, cursor), limit + 1);
    return pageOf(scope, rows, limit, erasureEntry);
  },
});
