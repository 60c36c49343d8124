import type { Tx } from '@postrider/db';
import { z } from 'zod';
import { idPrefixes } from '../../fields/ids.ts';
import { idField } from '../../fields/wire.ts';
import { keysCreatedBy } from './created-keys-store.ts';

const MAX_KEYS = 100;

export const createdKeysField = z
  .array(z.object({ id: idField(idPrefixes.api_key), name: z.string(), workspace_id: idField(idPrefixes.workspace) }))
  .readonly()
  .meta({ description: `API keys that the user created or rotated and that still work, up to ${MAX_KEYS}.` });

/** Returns the keys to check when a user's credential is replaced: they keep working. */
export function createdKeys(tx: Tx, user_id: string): Promise<z.output<typeof createdKeysField>> {
  return keysCreatedBy(tx, user_id, MAX_KEYS);
}
