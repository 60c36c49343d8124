import type { Tx } from '@postrider/db';
import type { Actor } from '../context.ts';
import { AppError } from '../errors.ts';
import type { KeyMode } from './secret.ts';
import { countActiveKeys, lockKeyCount } from './store.ts';

// Each key has windows and budgets of its own, so these bound a workspace only as far as its keys are bounded.
const MOST_KEYS = 1000;

/** Until the commit nobody else makes a key in the workspace, so that what is counted is exact. */
export async function refuseTooMany(tx: Tx, { kind, workspace_id }: Actor, mode: KeyMode): Promise<void> {
  await lockKeyCount(tx, workspace_id);
  // On the machine itself a lost key can be replaced, whoever has made how many.
  if (kind === 'system' || (await countActiveKeys(tx, workspace_id, mode, 'lasting')) < MOST_KEYS) return;
  throw new AppError(
    'key_limit',
    `A workspace has at most ${MOST_KEYS} active ${mode} keys; revoke some that are not in use, or let keys expire.`,
  );
}

/**
 * For a rotation, which leaves as many keys as there were and one that ends within a day. Those have a bound of their
 * own, so that a key which has leaked can be rotated however many there are.
 */
export async function refuseTooManyReplaced(tx: Tx, { kind, workspace_id }: Actor, mode: KeyMode): Promise<void> {
  await lockKeyCount(tx, workspace_id);
  if (kind === 'system' || (await countActiveKeys(tx, workspace_id, mode, 'replaced')) < MOST_KEYS) return;
  throw new AppError(
    'key_limit',
    `${MOST_KEYS} ${mode} keys that others have replaced still work; revoke some of those, or wait until they end.`,
  );
}
