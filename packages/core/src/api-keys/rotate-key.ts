import { z } from 'zod';
import { recordAudit } from '../audit/index.ts';
import { AppError } from '../errors.ts';
import { requireFreshSignIn } from '../fresh-sign-in.ts';
import { idPrefixes, newId } from '../ids.ts';
import { operation } from '../operation.ts';
import { modeInReach } from '../reach.ts';
import { idField } from '../wire.ts';
import { keyEntry, keyFacts, keyNotFound, keySchema } from './key-entry.ts';
import { refuseFurther } from './refuse-further.ts';
import { refuseTooManyReplaced } from './refuse-too-many.ts';
import { hashSecret, newSecret, secretPrefix } from './secret.ts';
import { insertKey, type KeyRow, keyById, lockKey, replaceKeyRow } from './store.ts';

const OVERLAP_SECONDS = 86_400;

/** Puts a key with a new id and a new secret in the place of another; for a day both work, so that programs can change. */
export const rotateKey = operation({
  name: 'api_keys.rotate',
  scope: 'admin',
  summary: 'Replace an API key by one that may do the same; the old one also works for 24 hours',
  input: z.object({ key_id: idField(idPrefixes.api_key) }),
  output: keySchema.extend({
    secret: z.string().meta({ description: 'pr_live_… or pr_test_…; it is shown here only.' }),
  }),
  async run(ctx, { key_id }) {
    await requireFreshSignIn(ctx);
    const { workspace_id } = ctx.actor;
    const asked = replaceable(await keyById(ctx.sql, workspace_id, modeInReach(ctx.actor), key_id), key_id);
    // What a key may do never changes, but for a rotation that was faster, which is seen below.
    await refuseFurther(ctx, asked);
    const secret = newSecret(asked.mode);
    const row = await ctx.sql.begin(async (tx) => {
      await refuseTooManyReplaced(tx, ctx.actor, asked.mode);
      const old = replaceable(await lockKey(tx, workspace_id, key_id), key_id);
      const made = await insertKey(tx, {
        workspace_id,
        id: newId('api_key', ctx.clock.now()),
        name: old.name,
        secret_hash: hashSecret(secret),
        prefix: secretPrefix(old.mode),
        last4: secret.slice(-4),
        scopes: old.scopes,
        mode: old.mode,
        domains: old.domains,
        allowed_ips: old.allowed_ips,
        expires_at: old.expires_at,
      });
      if (!made) throw new Error('two random secrets were equal');
      const replaced = await replaceKeyRow(tx, workspace_id, key_id, { id: made.id, overlap_seconds: OVERLAP_SECONDS });
      const until = { replaces: key_id, until: replaced.expires_at };
      await recordAudit(tx, ctx, [
        { action: 'api_key.rotated', target_id: made.id, diff: { ...keyFacts(made), ...until } },
      ]);
      return made;
    });
    return { ...keyEntry(row), secret };
  },
});

/** The key, if it works and nothing has taken its place yet. */
function replaceable(row: KeyRow | null, id: string): KeyRow {
  if (!row) throw keyNotFound(id);
  if (row.status !== 'active') {
    const message = `The key is ${row.status}, so that nothing is left to replace; make a new one with POST /api-keys.`;
    throw new AppError('api_key_not_active', message, { extra: { status: row.status } });
  }
  if (row.replaced_by === null) return row;
  throw new AppError('already_rotated', `The key has been replaced by ${row.replaced_by}; rotate that one.`, {
    extra: { replaced_by: row.replaced_by },
  });
}
