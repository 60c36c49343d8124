import type { Tx } from '@postrider/db';
import { keyDomainProblem } from '../../api-keys/index.ts';
import { accessibleMail, accessibleMode } from '../../operation/access.ts';
import type { Actor, ActorContext } from '../../operation/context.ts';
import { AppError } from '../../operation/errors.ts';
import { messageNotFound } from '../log/get-message.ts';
import { type LockedMessage, type LockedRecipient, lockMailOf, lockRecipientsOf } from './unsent-store.ts';

/** A locked message without any attempt, and its open recipients. */
export interface Unsent {
  readonly message: LockedMessage;
  readonly waiting: readonly LockedRecipient[];
}

/** Returns not_found for a message outside the actor's access scope; null if the actor may change it. */
export function accessProblem(
  actor: Actor,
  id: string,
  message: Pick<LockedMessage, 'mode' | 'from_domain'> | undefined,
): AppError | null {
  // A sandbox key must not touch live messages: sending one now would deliver it to the network.
  if (!message || message.mode !== (accessibleMode(actor) ?? message.mode)) {
    return messageNotFound(id);
  }
  return actor.kind === 'key' ? keyDomainProblem(actor.domains, message.from_domain) : null;
}

/** Throws if a message is closed and past its retention period. */
export async function requireKept(ctx: ActorContext, id: string): Promise<void> {
  if (!(await accessibleMail(ctx, [id])).has(id)) throw messageNotFound(id);
}

/**
 * Locks messages without an attempt and their open recipients; returns an error for the others. A claim also locks
 * recipients, so whichever comes second sees the result of the first and does nothing.
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
      const problem = accessProblem(actor, id, message);
      if (problem || !message) return [id, problem ?? messageNotFound(id)];
      const recipients = people.get(id) ?? [];
      if (recipients.some((row) => row.tried)) return [id, alreadySent(id)];
      const waiting = recipients.filter((row) => row.state === 'scheduled' || row.state === 'queued');
      return [id, { message, waiting }];
    }),
  );
}

export async function requireUnsent(tx: Tx, actor: Actor, id: string): Promise<Unsent> {
  const outcome = (await lockUnsent(tx, actor, actor.workspace_id, [id])).get(id) ?? messageNotFound(id);
  if (outcome instanceof AppError) throw outcome;
  return outcome;
}

export function alreadyCanceled(id: string): AppError {
  return new AppError('already_canceled', `${id} was canceled. Resend it with POST /v1/email/${id}/resend.`);
}

function alreadySent(id: string): AppError {
  return new AppError(
    'already_sent',
    `An attempt to deliver ${id} has already started. See its status with GET /v1/email/logs/${id}.`,
  );
}
