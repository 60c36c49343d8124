import { z } from 'zod';
import { recordAudit } from '../audit/index.ts';
import { idPrefixes, newId } from '../fields/ids.ts';
import { idField } from '../fields/wire.ts';
import { accessibleMode } from '../operation/access.ts';
import { AppError } from '../operation/errors.ts';
import { requireFreshSignIn } from '../operation/fresh-sign-in.ts';
import { operation } from '../operation/operation.ts';
import { hashSecret, newSecret, secretPrefix } from '../operation/secrets.ts';
import { keyEntry, keyFacts, keyNotFound, keySchema } from './key-entry.ts';
import { refuseFurther } from './refuse-further.ts';
import { refuseTooManyReplaced } from './refuse-too-many.ts';
import { insertKey, type KeyRow, keyById, lockKey, replaceKeyRow } from './store.ts';

const OVERLAP_SECONDS = 86_400;

/**
 * Replaces a key with a new key, which has its own id and secret. Both keys work for a day, so that clients can switch.
 */
export const rotateKey = operation({
  name: 'api_keys.rotate',
  scope: 'admin',
  sandbox: true,
  summary: 'Replace an API key with a new one that has the same permissions; the old key works for another 24 hours',
  reasons: [
    'api_key_not_found',
    'api_key_not_active',
    'already_rotated',
    'key_domain_restricted',
    'key_limit',
    'reauthentication_required',
  ],
  input: z.object({ key_id: idField(idPrefixes.api_key).meta({ description: 'The key to replace.' }) }),
  output: keySchema.extend({
    secret: z.string().meta({ description: 'pr_live_… or pr_test_…, only returned here.' }),
  }),
  async run(ctx, { key_id }) {
    await requireFreshSignIn(ctx);
    const { workspace_id } = ctx.actor;
    const key = replaceable(await keyById(ctx.sql, workspace_id, accessibleMode(ctx.actor), key_id), key_id);
    // The permissions of a key never change; a concurrent rotation is detected below.
    await refuseFurther(ctx, key);
    const secret = newSecret(key.mode);
    const row = await ctx.sql.begin(async (tx) => {
      await refuseTooManyReplaced(tx, ctx.actor, key.mode);
      const old = replaceable(await lockKey(tx, workspace_id, key_id), key_id);
      const new_row = await insertKey(tx, {
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
      if (!new_row) throw new Error('random secret collision');
      const replaced = await replaceKeyRow(tx, workspace_id, key_id, {
        id: new_row.id,
        overlap_seconds: OVERLAP_SECONDS,
      });
      const until = { replaces: key_id, until: replaced.expires_at };
      await recordAudit(tx, ctx, [
        { action: 'api_key.rotated', target_id: new_row.id, diff: { ...keyFacts(new_row), ...until } },
      ]);
      return new_row;
    });
    return { ...keyEntry(row), secret };
  },
});

/** Returns the key if it is active and not replaced yet. */
function replaceable(row: KeyRow | null, id: string): KeyRow {
  if (!row) throw keyNotFound(id);
  if (row.status !== 'active') {
    const message = `The key is ${row.status}, so it cannot be rotated. Create a new one with POST /v1/api-keys.`;
    throw new AppError('api_key_not_active', message, { extra: { status: row.status } });
  }
  if (row.replaced_by === null) return row;
  throw new AppError('already_rotated', `The key was replaced by ${row.replaced_by}. Rotate that one.`, {
    extra: { replaced_by: row.replaced_by },
  });
}
