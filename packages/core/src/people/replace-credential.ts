import type { Tx } from '@postrider/db';
import type { Services } from '../operation/context.ts';
import { deleteFactors } from './factors/factor-store.ts';
import { noteAccount } from './notices/note-account.ts';
import type { Origin } from './notices/notice-store.ts';
import { endSessions } from './sessions/session-store.ts';
import { replaceEntry, type UserRow } from './store.ts';

/**
 * Replaces the credential of an existing user and removes all others, because someone who had set one up, such as an
 * admin who invited the user, must not keep a way in.
 */
export async function replaceCredential(
  services: Pick<Services, 'jobs'>,
  tx: Tx,
  user_id: string,
  credential: Pick<UserRow, 'password_hash' | 'vouched'>,
  origin: Origin,
): Promise<void> {
  await replaceEntry(tx, user_id, credential);
  await deleteFactors(tx, user_id);
  await noteAccount(services, tx, user_id, 'sign_in_reset', origin);
  await endSessions(tx, user_id);
}
