import { z } from 'zod';
import { recordAudit } from '../audit/index.ts';
import { idPrefixes, newId } from '../fields/ids.ts';
import { idField } from '../fields/wire.ts';
import { operation } from '../operation/operation.ts';
import { addressField } from './address-field.ts';
import { removeSuppressions } from './store.ts';
import { suppressionNotFound } from './suppression-entry.ts';

const deletedSchema = z.object({
  object: z.literal('suppression'),
  id: idField(idPrefixes.suppression),
  email: z.string(),
  deleted: z.literal(true),
});
export type DeletedSuppression = z.output<typeof deletedSchema>;

/** Removes an address from the list; the next message to it is sent. */
export const deleteSuppression = operation({
  name: 'suppressions.delete',
  scope: 'admin',
  summary: 'Remove an address from the suppression list',
  input: z.object({ email: addressField }),
  output: deletedSchema,
  async run(ctx, { email }): Promise<DeletedSuppression> {
    const { workspace_id } = ctx.actor;
    const event_id = newId('event', ctx.clock.now());
    const deletion = await ctx.sql.begin(async (tx) => {
      const [removed] = await removeSuppressions(tx, 'deleted', [{ workspace_id, email, event_id }]);
      if (!removed) throw suppressionNotFound(email);
      await recordAudit(tx, ctx, [{ action: 'suppression.removed', target_id: removed.id }]);
      return removed;
    });
    return { object: 'suppression', id: deletion.id, email: deletion.email, deleted: true };
  },
});
