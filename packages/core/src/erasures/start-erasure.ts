import { z } from 'zod';
import { recordAudit } from '../audit/index.ts';
import { idPrefixes, newId } from '../fields/ids.ts';
import { idField } from '../fields/wire.ts';
import { AppError } from '../operation/errors.ts';
import { requireFreshSignIn } from '../operation/fresh-sign-in.ts';
import { operation } from '../operation/operation.ts';
import { countRejected, lockEntries } from '../shares/index.ts';
import { addressField, isErasedAddress } from '../suppressions/index.ts';
import { type ErasureEntry, erasureEntry, erasureNotFound, erasureSchema } from './erasure-entry.ts';
import { erasureById, insertErasure, openErasures, restartErasure } from './store.ts';

// Limited because each erasure reads all the data of its workspace.
export const MAX_OPEN_ERASURES = 100;

/**
 * Erases an address from the workspace in a job. If an erasure of the address is already open, it starts over. The
 * audit log has the id of the run instead of the address, because its chain cannot be erased.
 */
export const startErasure = operation({
  name: 'erasures.start',
  scope: 'admin',
  summary: 'Erase an address and its email content',
  reasons: ['invalid_email', 'erasure_limit', 'reauthentication_required'],
  input: z.object({
    email: addressField.refine((email) => !isErasedAddress(email), {
      message: 'email: the placeholder for erased addresses cannot be erased.',
      params: { reason: 'invalid_email' },
    }),
  }),
  output: erasureSchema,
  async run(ctx, { email }): Promise<ErasureEntry> {
    await requireFreshSignIn(ctx);
    const { workspace_id } = ctx.actor;
    const id = newId('erasure', ctx.clock.now());
    const row = await ctx.sql.begin(async (tx) => {
      await lockEntries(tx, 'erasures', workspace_id);
      const open = await openErasures(tx, workspace_id);
      const same = open.find((other) => other.email.toLowerCase() === email.toLowerCase());
      const restarted = same && (await restartErasure(tx, same.id));
      if (restarted) return restarted;
      if (open.length >= MAX_OPEN_ERASURES) {
        countRejected(ctx.metrics, 'erasures')();
        throw tooManyErasures();
      }
      const inserted = await insertErasure(tx, { id, workspace_id, email });
      await ctx.jobs.send(tx, 'erasure.run', [{ data: { erasure_id: id } }]);
      await recordAudit(tx, ctx, [{ action: 'erasure.started', target_id: id }]);
      return inserted;
    });
    ctx.jobs.wakeAll('erasure.run');
    if (!row) throw erasureNotFound(id);
    return erasureEntry(row);
  },
});

/** Returns the receipt of an erasure: counts, but no address. */
export const getErasure = operation({
  name: 'erasures.get',
  scope: 'admin',
  summary: 'Get an erasure receipt',
  reasons: ['erasure_not_found'],
  input: z.object({ id: idField(idPrefixes.erasure) }),
  output: erasureSchema,
  async run(ctx, { id }): Promise<ErasureEntry> {
    const row = await erasureById(ctx.sql, ctx.actor.workspace_id, id);
    if (!row) throw erasureNotFound(id);
    return erasureEntry(row);
  },
});

function tooManyErasures(): AppError {
  return new AppError(
    'erasure_limit',
    `${MAX_OPEN_ERASURES} erasures are in progress in this workspace. Wait until one completes and retry.`,
    { extra: { limit: MAX_OPEN_ERASURES } },
  );
}
