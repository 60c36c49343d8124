import type { Tx } from '@postrider/db';
import { deleteFactors } from './factors/factor-store.ts';
import { endSessions } from './sessions/session-store.ts';
import { replaceEntry, type UserRow } from './store.ts';

/**
 * Replaces the credential of a user, and removes all others: someone who has set one up, such as an admin who invited the
 * user, must not keep a way in. Returns the number of sessions that ended.
 */
export async function replaceCredential(
  tx: Tx,
  user_id: string,
  credential: Pick<UserRow, 'password_hash' | 'vouched'>,
): Promise<number> {
  await replaceEntry(tx, user_id, credential);
  await deleteFactors(tx, user_id);
  return endSessions(tx, user_id);
}
