import { z } from 'zod';
import { isOperator, requireAdministrator } from '../operation/access.ts';
import { operation } from '../operation/operation.ts';
import { affectedBy } from './affected-store.ts';
import { holdsHere } from './find-hold.ts';
import { holdEntry, holdSchema } from './hold-entry.ts';
import { holdsByIds } from './store.ts';

const MAX_IDS = 1000;

/** Returns holds by id, in the given order; null for those the caller may not see. */
export const readHolds = operation({
  name: 'holds.read_many',
  scope: null,
  summary: 'Holds by ID',
  input: z.object({ ids: z.array(z.string()).max(MAX_IDS) }),
  output: z.array(holdSchema.nullable()).readonly(),
  async run(ctx, { ids }) {
    requireAdministrator(ctx.actor);
    const rows = (await holdsByIds(ctx.sql, ids)).filter((row) => holdsHere(ctx.actor, row));
    const affected = await affectedBy(
      ctx.sql,
      rows.map((row) => row.id),
      isOperator(ctx.actor) ? null : ctx.actor.workspace_id,
    );
    const by_id = new Map(rows.map((row) => [row.id, holdEntry(ctx, row, affected.get(row.id) ?? 0)]));
    return ids.map((id) => by_id.get(id) ?? null);
  },
});
