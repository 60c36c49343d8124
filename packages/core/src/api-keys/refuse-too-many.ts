import type { Tx } from '@postrider/db';
import type { Actor } from '../operation/context.ts';
import { AppError } from '../operation/errors.ts';
import type { KeyMode } from '../operation/secrets.ts';
import { requireRoomInPlan } from '../usage/index.ts';
import { countActiveKeys, lockKeyCount } from './store.ts';

// Each key has its own rate windows and budgets, so a workspace is only limited if its key count is.
const MAX_KEYS = 1000;

/** Locks key creation in the workspace until the commit, so that the count is exact. */
export async function refuseTooMany(tx: Tx, { kind, workspace_id }: Actor, mode: KeyMode): Promise<void> {
  await lockKeyCount(tx, workspace_id);
  // The local CLI must always be able to replace a lost key, whatever the count.
  if (kind === 'system') return;
  await requireRoomInPlan(tx, workspace_id, 'api_keys');
  if ((await countActiveKeys(tx, workspace_id, mode, 'lasting')) < MAX_KEYS) return;
  throw new AppError(
    'key_limit',
    `A workspace has at most ${MAX_KEYS} active ${mode} keys. Revoke unused keys or let keys expire.`,
  );
}

/**
 * Rejects a rotation if too many replaced keys are still active. A rotation adds only one key that expires within a
 * day. Replaced keys have a separate limit, so that a leaked key can be rotated even at the key limit.
 */
export async function refuseTooManyReplaced(tx: Tx, { kind, workspace_id }: Actor, mode: KeyMode): Promise<void> {
  await lockKeyCount(tx, workspace_id);
  if (kind === 'system' || (await countActiveKeys(tx, workspace_id, mode, 'replaced')) < MAX_KEYS) return;
  throw new AppError(
    'key_limit',
    `${MAX_KEYS} ${mode} replaced keys are still active. Revoke some of them or wait until they expire.`,
  );
}
