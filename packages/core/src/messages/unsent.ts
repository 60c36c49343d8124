import type { Tx } from '@postrider/db';
import { keyDomainProblem } from '../api-keys/key-domains.ts';
import type { Actor } from '../context.ts';
import { AppError } from '../errors.ts';
import { modeInReach } from '../reach.ts';
import { messageNotFound } from './get-message.ts';
import { type LockedMessage, type LockedRecipient, lockMailOf, lockRecipientsOf } from './unsent-store.ts';

/** A message of which no attempt has begun, locked, with whoever still waits to be sent. */
export interface Unsent {
  readonly message: LockedMessage;
  readonly waiting: readonly LockedRecipient[];
}

/** A message out of an actor's reach is as good as none; null where it may act. */
export function reachProblem(
  actor: Actor,
  id: string,
  message: Pick<LockedMessage, 'mode' | 'from_domain'> | undefined,
): AppError | null {
  // Live mail is out of a sandbox key's reach: moved to now, it would leave for the network.
  if (!message || message.mode !== (modeInReach(actor) ?? message.mode)) {
    return messageNotFound(id);
  }
  return actor.kind === 'key' ? keyDomainProblem(actor.domains, message.from_domain) : null;
}

/**
 * Locks messages, and of those that the actor may touch and of which no attempt has begun, whoever still waits to be
 * sent; for the others, why not. A claim locks recipients too, so from here on it finds what this transaction
 * leaves; whichever comes second has lost.
 */
export async function lockUnsent(
  tx: Tx,
  actor: Actor,
  workspace_id: string,
  ids: readonly string[],
): Promise<Map<string, Unsent | AppError>> {
  const messages = new Map((await lockMailOf(tx, workspace_id, ids)).map((row) => [row.id, row]));
  const people = Map.groupBy(await lockRecipientsOf(tx, workspace_id, ids), (row) => row.message_id);
  return new Map(
    ids.map((id): [string, Unsent | AppError] => {
      const message = messages.get(id);
      const problem = reachProblem(actor, id, message);
      if (problem || !message) return [id, problem ?? messageNotFound(id)];
      const recipients = people.get(id) ?? [];
      if (recipients.some((row) => row.tried)) return [id, alreadySent(id)];
      const waiting = recipients.filter((row) => row.state === 'scheduled' || row.state === 'queued');
      return [id, { message, waiting }];
    }),
  );
}

export async function requireUnsent(tx: Tx, actor: Actor, id: string): Promise<Unsent> {
  const found = (await lockUnsent(tx, actor, actor.workspace_id, [id])).get(id) ?? messageNotFound(id);
  if (found instanceof AppError) throw found;
  return found;
}

export function alreadyCanceled(id: string): AppError {
  return new AppError('already_canceled', `${id} has been canceled; POST /v1/email/${id}/resend sends it anew.`);
}

function alreadySent(id: string): AppError {
  return new AppError(
    'already_sent',
    `An attempt to deliver ${id} has begun; GET /v1/email/logs/${id} shows what became of it.`,
  );
}
