import { recordAudit } from '../audit/index.ts';
import { INSTANCE } from '../operation/access.ts';
import type { ActorContext } from '../operation/context.ts';
import { invoke } from '../operation/operation.ts';
import { affectedBy } from './affected-store.ts';
import { createHold } from './create-hold.ts';
import { type HoldEntry, holdEnd, holdEntry } from './hold-entry.ts';
import { EVERYTHING } from './scope.ts';
import { holdById, lockHold, makeEndless, openHoldOn } from './store.ts';

/** Holds the instance until an operator releases it. An existing hold stays and loses its expiry. */
export async function keepInstanceHeld(ctx: ActorContext, reason: string): Promise<HoldEntry> {
  const instance_hold = await ctx.sql.begin(async (tx) => {
    const existing = await openHoldOn(tx, { scope: 'instance', value: EVERYTHING, workspace_id: INSTANCE });
    if (!existing) return null;
    await lockHold(tx, existing.id);
    const hold = await holdById(tx, existing.id);
    const row = await makeEndless(tx, existing.id);
    if (hold && row && row.expires_at.getTime() !== hold.expires_at.getTime()) {
      const diff = {
        scope: row.scope,
        value: row.value,
        expires_at: [holdEnd(hold.expires_at), holdEnd(row.expires_at)],
      };
      await recordAudit(tx, ctx, [
        { action: 'hold.made_endless', target_id: row.id, diff, reason, workspace_id: INSTANCE },
      ]);
    }
    return row;
  });
  if (!instance_hold) return invoke(ctx, createHold, { scope: 'instance', value: EVERYTHING, reason });
  const affected = await affectedBy(ctx.sql, [instance_hold.id], null);
  return holdEntry(ctx, instance_hold, affected.get(instance_hold.id) ?? 0);
}
