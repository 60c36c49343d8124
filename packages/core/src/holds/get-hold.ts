import { z } from 'zod';
import { idPrefixes } from '../fields/ids.ts';
import { idField } from '../fields/wire.ts';
import { isOperator } from '../operation/access.ts';
import { operation } from '../operation/operation.ts';
import { affectedBy } from './affected-store.ts';
import { findHold } from './find-hold.ts';
import { type HoldEntry, holdEntry, holdSchema } from './hold-entry.ts';

/** Returns one hold, active or ended, with the number of items it holds back. */
export const getHold = operation({
  name: 'holds.get',
  scope: null,
  summary: 'Get a hold with its number of held items',
  input: z.object({ hold_id: idField(idPrefixes.hold) }),
  output: holdSchema,
  async run(ctx, { hold_id }): Promise<HoldEntry> {
    const row = await findHold(ctx, hold_id);
    const affected = await affectedBy(ctx.sql, [row.id], isOperator(ctx.actor) ? null : ctx.actor.workspace_id);
    return holdEntry(ctx, row, affected.get(row.id) ?? 0);
  },
});
