import { z } from 'zod';
import { recordAudit } from '../audit/index.ts';
import { idPrefixes } from '../ids.ts';
import { operation } from '../operation.ts';
import { INSTANCE, requireAdministrator } from '../reach.ts';
import { idField } from '../wire.ts';
import { affectedBy } from './affected-store.ts';
import { findHold } from './find-hold.ts';
import { type HoldEntry, holdEntry, holdNotFound, holdSchema } from './hold-entry.ts';
import { holdById, releaseHoldRow } from './store.ts';

/** Ends a hold. What it kept back goes on, at its rate where it has one; a repeat answers the same. */
export const releaseHold = operation({
  name: 'holds.release',
  scope: null,
  summary: 'End a hold',
  input: z.object({
    hold_id: idField(idPrefixes.hold),
    reason: z.string().trim().min(1).max(1000).optional(),
  }),
  output: holdSchema,
  async run(ctx, { hold_id, reason }): Promise<HoldEntry> {
    const found = await findHold(ctx, hold_id);
    requireAdministrator(ctx.actor, found.workspace_id === INSTANCE ? 'instance' : 'workspace');
    const row = await ctx.sql.begin(async (tx) => {
      const released = await releaseHoldRow(tx, hold_id);
      if (!released) return holdById(tx, hold_id);
      const diff = { scope: released.scope, value: released.value };
      await recordAudit(tx, ctx, [
        {
          action: 'hold.released',
          target_id: hold_id,
          diff,
          reason: reason ?? null,
          workspace_id: released.workspace_id,
        },
      ]);
      return released;
    });
    if (!row) throw holdNotFound(hold_id);
    const affected = await affectedBy(ctx.sql, [row.id], null);
    return holdEntry(row, affected.get(row.id) ?? 0);
  },
});
