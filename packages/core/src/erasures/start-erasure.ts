import { z } from 'zod';
import { recordAudit } from '../audit/index.ts';
import { idPrefixes, newId } from '../fields/ids.ts';
import { idField } from '../fields/wire.ts';
import { operation } from '../operation/operation.ts';
import { addressField, standsForErased } from '../suppressions/index.ts';
import { type ErasureEntry, erasureEntry, erasureNotFound, erasureSchema } from './erasure-entry.ts';
import { erasureById, insertErasure } from './store.ts';

/**
 * Erases an address from the workspace, by a job. The audit log has the id of the run and not the address, because its
 * chain cannot be erased.
 */
export const startErasure = operation({
  name: 'erasures.start',
  scope: 'admin',
  summary: 'Erase an address and the content of its mail',
  input: z.object({
    email: addressField.refine((email) => !standsForErased(email), {
      message: 'email: what stands for erased addresses cannot be erased.',
      params: { reason: 'invalid_email' },
    }),
  }),
  output: erasureSchema,
  async run(ctx, { email }): Promise<ErasureEntry> {
    const { workspace_id } = ctx.actor;
    const id = newId('erasure', ctx.clock.now());
    const row = await ctx.sql.begin(async (tx) => {
      const made = await insertErasure(tx, { id, workspace_id, email });
      await ctx.jobs.send(tx, 'erasure.run', [{ data: { erasure_id: id } }]);
      await recordAudit(tx, ctx, [{ action: 'erasure.started', target_id: id }]);
      return made;
    });
    ctx.jobs.wakeAll('erasure.run');
    if (!row) throw erasureNotFound(id);
    return erasureEntry(row);
  },
});

/** The receipt of an erasure: counts, and no address. */
export const getErasure = operation({
  name: 'erasures.get',
  scope: 'admin',
  summary: 'The receipt of an erasure',
  input: z.object({ id: idField(idPrefixes.erasure) }),
  output: erasureSchema,
  async run(ctx, { id }): Promise<ErasureEntry> {
    const row = await erasureById(ctx.sql, ctx.actor.workspace_id, id);
    if (!row) throw erasureNotFound(id);
    return erasureEntry(row);
  },
});
