import { z } from 'zod';
import { recordAudit } from '../audit/index.ts';
import { idPrefixes } from '../fields/ids.ts';
import { idField } from '../fields/wire.ts';
import { INSTANCE, requireAdministrator } from '../operation/access.ts';
import { operation } from '../operation/operation.ts';
import { affectedBy } from './affected-store.ts';
import { expiryFacts } from './end-expired.ts';
import { findHold } from './find-hold.ts';
import { type HoldEntry, holdEntry, holdNotFound, holdSchema } from './hold-entry.ts';
import { rateField, requireRated } from './resume-rate.ts';
import { endExpired, type HoldRow, holdById, liftRateRow, lockHold, releaseHoldRow } from './store.ts';

/**
 * Ends a hold. The backlog is sent at the resume_rate_per_minute of the hold or of this call; at_once lifts the rate. A
 * repeated call returns the same result.
 */
export const releaseHold = operation({
  name: 'holds.release',
  scope: null,
  summary: 'Release a hold',
  input: z.object({
    hold_id: idField(idPrefixes.hold),
    reason: z.string().trim().min(1).max(1000).optional(),
    resume_rate_per_minute: rateField.optional().meta({
      description:
        "Overrides the rate at which the hold's email is sent after its release, in emails per minute. at_once takes precedence.",
    }),
    at_once: z.boolean().default(false).meta({
      description: 'Also removes the resume rate, even if the hold already ended, so the backlog is sent immediately.',
    }),
  }),
  output: holdSchema,
  async run(ctx, { hold_id, reason, at_once, resume_rate_per_minute: rate = null }): Promise<HoldEntry> {
    const hold = await findHold(ctx, hold_id);
    requireAdministrator(ctx.actor, hold.workspace_id === INSTANCE || hold.by_operator ? 'instance' : 'workspace');
    if (rate !== null) requireRated(hold);
    const row = await ctx.sql.begin(async (tx) => {
      await lockHold(tx, hold_id);
      const released = await releaseHoldRow(tx, hold_id, rate);
      const expired = at_once ? await endExpired(tx, hold) : [];
      const lifted = at_once ? await liftRateRow(tx, hold_id) : null;
      const { resume_rate_per_minute } = released ?? hold;
      const fact = {
        target_id: hold_id,
        reason: reason ?? null,
        workspace_id: hold.workspace_id,
      };
      await recordAudit(tx, ctx, [
        ...expiryFacts(expired),
        ...(released ? [{ ...fact, action: 'hold.released', diff: releasedDiff(hold, released) } as const] : []),
        ...(lifted
          ? [
              {
                ...fact,
                action: 'hold.rate_lifted',
                diff: { resume_rate_per_minute: [resume_rate_per_minute, null] },
              } as const,
            ]
          : []),
      ]);
      return lifted ?? released ?? (await holdById(tx, hold_id));
    });
    if (!row) throw holdNotFound(hold_id);
    const affected = await affectedBy(ctx.sql, [row.id], null);
    return holdEntry(ctx, row, affected.get(row.id) ?? 0);
  },
});

function releasedDiff({ scope, value, resume_rate_per_minute: before }: HoldRow, { resume_rate_per_minute }: HoldRow) {
  return {
    scope,
    value,
    ...(before !== resume_rate_per_minute && { resume_rate_per_minute: [before, resume_rate_per_minute] }),
  };
}
