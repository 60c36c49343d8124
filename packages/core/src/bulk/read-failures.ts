import { z } from 'zod';
import { mayAccess, requireAdministrator } from '../operation/access.ts';
import { operation } from '../operation/operation.ts';
import { bulksByIds, failuresOf } from './store.ts';

const MAX_IDS = 1000;
const MAX_FAILURES = 10;

const failureSchema = z.object({ id: z.string(), reason: z.string() });

/** Returns the first failed items of bulk operations, by operation id. */
export const readBulkFailures = operation({
  name: 'bulk.read_failures',
  scope: null,
  summary: 'The first failures of some bulk operations',
  input: z.object({ ids: z.array(z.string()).max(MAX_IDS) }),
  output: z.array(z.array(failureSchema).readonly()).readonly(),
  async run(ctx, { ids }) {
    requireAdministrator(ctx.actor);
    const bulks = (await bulksByIds(ctx.sql, ids)).filter((row) => mayAccess(ctx.actor, row.workspace_id));
    const rows = await failuresOf(
      ctx.sql,
      bulks.map(({ id }) => id),
      MAX_FAILURES,
    );
    const failures = Map.groupBy(rows, (row) => row.bulk_id);
    return ids.map((id) =>
      (failures.get(id) ?? []).map(({ item_id, reason }) => ({ id: item_id, reason: reason ?? 'unexpected' })),
    );
  },
});
