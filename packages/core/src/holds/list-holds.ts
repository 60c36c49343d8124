import { z } from 'zod';
import { listOf } from '../fields/wire.ts';
import { isOperator, requireAdministrator } from '../operation/access.ts';
import { operation } from '../operation/operation.ts';
import { type List, pageFields, pageOf, readCursor } from '../paging/list.ts';
import { affectedBy } from './affected-store.ts';
import { type HoldEntry, holdEntry, holdSchema } from './hold-entry.ts';
import { readHoldPage } from './store.ts';

/**
 * Lists holds, newest first: those in force, optionally also ended ones. An admin sees the holds of the workspace and
 * of the instance.
 */
export const listHolds = operation({
  name: 'holds.list',
  scope: null,
  summary: 'List holds, newest first',
  input: z.object({
    ...pageFields,
    active: z.boolean().default(true).meta({ description: 'false: also ended ones.' }),
  }),
  output: listOf(holdSchema),
  async run(ctx, { limit, cursor, active }): Promise<List<HoldEntry>> {
    requireAdministrator(ctx.actor);
    const workspace_id = isOperator(ctx.actor) ? null : ctx.actor.workspace_id;
    const scope = { secret_key: ctx.secret_key, list: 'holds', workspace_id: workspace_id ?? '', filters: { active } };
    const rows = await readHoldPage(ctx.sql, { workspace_id, active }, readCursor(scope, cursor), limit + 1);
    const affected = await affectedBy(
      ctx.sql,
      rows.map((row) => row.id),
      workspace_id,
    );
    return pageOf(scope, rows, limit, (row) => holdEntry(ctx, row, affected.get(row.id) ?? 0));
  },
});
