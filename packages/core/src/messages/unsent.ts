import type { Tx } from '@postrider/db';
import { keyDomainProblem } from '../api-keys/key-domains.ts';
import type { Actor } from '../context.ts';
import { AppError } from '../errors.ts';
import { messageNotFound } from './get-message.ts';
import { lockMessage, lockWaiting, type UnsentMessage, type WaitingRecipient } from './unsent-store.ts';

/**
 * Locks a message of which no attempt has begun, with whoever still waits to be sent. A claim locks
 * recipients too, so from here on it finds what this transaction leaves; whichever comes second has lost.
 */
export async function requireUnsent(
  tx: Tx,
  actor: Actor,
  id: string,
): Promise<{ readonly message: UnsentMessage; readonly waiting: readonly WaitingRecipient[] }> {
  const { workspace_id } = actor;
  const message = await lockMessage(tx, workspace_id, id);
  // Live mail is out of a sandbox key's reach: moved to now, it would leave for the network.
  const reachable = message && !(actor.kind === 'key' && actor.mode === 'sandbox' && message.mode === 'live');
  if (!reachable) throw messageNotFound(id);
  const restricted = actor.kind === 'key' ? keyDomainProblem(actor.domains, message.from_domain) : null;
  if (restricted) throw restricted;
  const waiting = await lockWaiting(tx, workspace_id, id);
  if (waiting === null) {
    throw new AppError(
      'already_sent',
      `An attempt to deliver ${id} has begun; GET /email/logs/${id} shows what became of it.`,
    );
  }
  return { message, waiting };
}
