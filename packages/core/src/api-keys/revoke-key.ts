import { z } from 'zod';
import { isoTime } from '../clock.ts';
import { operation } from '../operation.ts';
import { keyNotFound } from './key-entry.ts';
import { revokeKeyRow } from './store.ts';

export interface RevokedKey {
  readonly object: 'api_key';
  readonly id: string;
  readonly status: 'revoked';
  readonly revoked_at: string;
}

/** Revokes a key for the next request of every process. Cannot be undone; a repeat answers the same. */
export const revokeKey = operation({
  name: 'api_keys.revoke',
  scope: 'admin',
  input: z.object({ key_id: z.string() }),
  async run(ctx, { key_id }): Promise<RevokedKey> {
    const row = await revokeKeyRow(ctx.sql, ctx.actor.workspace_id, key_id);
    if (!row?.revoked_at) throw keyNotFound(key_id);
    return { object: 'api_key', id: row.id, status: 'revoked', revoked_at: isoTime(row.revoked_at) };
  },
});
