import { z } from 'zod';
import { recordAudit } from '../audit/index.ts';
import { isoTime } from '../fields/clock.ts';
import { idPrefixes } from '../fields/ids.ts';
import { idField, objectName, timeField } from '../fields/wire.ts';
import { accessibleMode } from '../operation/access.ts';
import { operation } from '../operation/operation.ts';
import { keyNotFound } from './key-entry.ts';
import { refuseScopesBeyond } from './refuse-further.ts';
import { keyById, revokeKeyRow } from './store.ts';

const revokedSchema = z.object({
  object: objectName('api_key'),
  id: idField(idPrefixes.api_key),
  status: z.literal('revoked').meta({ description: 'Always `revoked`.' }),
  revoked_at: timeField.meta({ description: 'When the key was first revoked.' }),
});
export type RevokedKey = z.output<typeof revokedSchema>;

/** Revokes a key, effective from the next request to any process. Irreversible and idempotent. */
export const revokeKey = operation({
  name: 'api_keys.revoke',
  scope: 'admin',
  sandbox: true,
  summary: 'Revoke an API key immediately',
  reasons: ['api_key_not_found'],
  input: z.object({ key_id: idField(idPrefixes.api_key).meta({ description: 'The key to revoke.' }) }),
  output: revokedSchema,
  async run(ctx, { key_id }): Promise<RevokedKey> {
    const { workspace_id } = ctx.actor;
    const mode = accessibleMode(ctx.actor);
    // The permissions of a key never change.
    const key = await keyById(ctx.sql, workspace_id, mode, key_id);
    if (key) refuseScopesBeyond(ctx.actor, key.scopes, 'revoke a key with');
    const row = await ctx.sql.begin(async (tx) => {
      const revoked = await revokeKeyRow(tx, workspace_id, mode, key_id);
      if (!revoked) return keyById(tx, workspace_id, mode, key_id);
      await recordAudit(tx, ctx, [{ action: 'api_key.revoked', target_id: key_id, diff: { name: revoked.name } }]);
      return revoked;
    });
    if (!row?.revoked_at) throw keyNotFound(key_id);
    return { object: 'api_key', id: row.id, status: 'revoked', revoked_at: isoTime(row.revoked_at) };
  },
});
