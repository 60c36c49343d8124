import { z } from 'zod';
import { recordAudit } from '../audit/index.ts';
import { idPrefixes, newId } from '../fields/ids.ts';
import { deletedField, idField, objectName } from '../fields/wire.ts';
import type { ActorContext } from '../operation/context.ts';
import { operation } from '../operation/operation.ts';
import { addressField } from './address-field.ts';
import { removeSuppressions } from './store.ts';
import { suppressionNotFound } from './suppression-entry.ts';

const deletedSchema = z.object({
  object: objectName('suppression'),
  id: idField(idPrefixes.suppression),
  email: z.string().meta({ description: 'The removed address.' }),
  deleted: deletedField,
});
export type DeletedSuppression = z.output<typeof deletedSchema>;

/** Removes an address from the list; the next message to it is sent. */
export const deleteSuppression = operation({
  name: 'suppressions.delete',
  scope: 'admin',
  summary: 'Remove an address from the suppression list',
  reasons: ['invalid_email', 'suppression_not_found'],
  input: z.object({ email: addressField }),
  output: deletedSchema,
  run: (ctx, { email }) => deleteAudited(ctx, email, null),
});

/** Like deleteSuppression, with a reason for the audit log, for which a DELETE request has no place. */
export const deleteSuppressionForReason = operation({
  name: 'suppressions.delete_for_reason',
  scope: 'admin',
  summary: 'Remove an address from the suppression list, with a reason',
  input: z.object({
    email: addressField,
    reason: z.string().trim().max(500).optional().meta({ description: 'Reason for the audit log.' }),
  }),
  output: deletedSchema,
  run: (ctx, { email, reason }) => deleteAudited(ctx, email, reason || null),
});

async function deleteAudited(ctx: ActorContext, email: string, reason: string | null): Promise<DeletedSuppression> {
  const { workspace_id } = ctx.actor;
  const event_id = newId('event', ctx.clock.now());
  const deletion = await ctx.sql.begin(async (tx) => {
    const [removed] = await removeSuppressions(tx, 'deleted', [{ workspace_id, email, event_id }]);
    if (!removed) throw suppressionNotFound(email);
    await recordAudit(tx, ctx, [{ action: 'suppression.removed', target_id: removed.id, reason }]);
    return removed;
  });
  return { object: 'suppression', id: deletion.id, email: deletion.email, deleted: true };
}
