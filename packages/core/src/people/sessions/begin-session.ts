import type { Tx } from '@postrider/db';
import { newId } from '../../fields/ids.ts';
import { insertSession } from './session-store.ts';
import { hashToken, newToken } from './token.ts';

/** Starts a session under a new id and returns its token, which is not stored. */
export async function beginSession(
  tx: Tx,
  now_ms: number,
  session: Omit<Parameters<typeof insertSession>[1], 'id' | 'token_hash'>,
): Promise<{ readonly id: string; readonly token: string }> {
  const id = newId('session', now_ms);
  const token = newToken();
  await insertSession(tx, { ...session, id, token_hash: hashToken(token) });
  return { id, token };
}
