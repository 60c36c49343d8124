import { z } from 'zod';
import { mayAccess, requireAdministrator } from '../operation/access.ts';
import { operation } from '../operation/operation.ts';
import { bulkEntry, bulkSchema } from './bulk-entry.ts';
import { bulksByIds } from './store.ts';

const MAX_IDS = 1000;

/** Returns bulk operations by id, in the order given; null for those the actor may not see. */
export const readBulks = operation({
  name: 'bulk.read_many',
  scope: null,
  summary: 'Bulk operations by ID',
  input: z.object({ ids: z.array(z.string()).max(MAX_IDS) }),
  output: z.array(bulkSchema.nullable()).readonly(),
  async run(ctx, { ids }) {
    requireAdministrator(ctx.actor);
    const rows = await bulksByIds(ctx.sql, ids);
    const by_id = new Map(
      rows.filter((row) => mayAccess(ctx.actor, row.workspace_id)).map((row) => [row.id, bulkEntry(row)]),
    );
    return ids.map((id) => by_id.get(id) ?? null);
  },
});
