import { retryingDeadlock, type Tx } from '@postrider/db';
import { z } from 'zod';
import { recordAudit } from '../../audit/index.ts';
import { GIVEN_UP, transition } from '../../delivery/index.ts';
import { absentable } from '../../fields/absentable.ts';
import { idPrefixes, newId } from '../../fields/ids.ts';
import { idField } from '../../fields/wire.ts';
import type { Actor, Services } from '../../operation/context.ts';
import { AppError } from '../../operation/errors.ts';
import { operation } from '../../operation/operation.ts';
import { entryOf, messageNotFound } from '../log/get-message.ts';
import { type LogEntry, logEntrySchema } from '../log/log-entry.ts';
import { cancelUnsent, dropJobs } from './cancel-message.ts';
import { accessProblem, requireKept, type Unsent } from './unsent.ts';
import { type LockedRecipient, lockMailOf, lockRecipientsOf, markGivingUp } from './unsent-store.ts';

/** A locked message whose open recipients are to be given up. */
export interface HopelessRecipient {
  /** Attempted before and waiting for a retry. */
  readonly tried: readonly LockedRecipient[];
  /** Being sent to; the current attempt is their last. */
  readonly sending: readonly LockedRecipient[];
  /** Never attempted: they are canceled and their usage is refunded. */
  readonly untried: Unsent;
}

/**
 * Gives up all recipients that are still open. A recipient waiting for a retry fails as given_up. A recipient being
 * sent to also fails as given_up, unless the current attempt delivers. A recipient that was never attempted is
 * canceled.
 */
export const giveUpMessage = operation({
  name: 'email.give_up',
  scope: 'admin',
  sandbox: true,
  summary: 'Give up on an email; no further attempts are made',
  reasons: ['message_not_found', 'key_domain_restricted', 'not_deferred'],
  input: z.object({
    id: idField(idPrefixes.message),
    reason: absentable(z.string().trim().min(1).max(500)).meta({ description: 'Reason for the audit log.' }),
  }),
  output: logEntrySchema,
  async run(ctx, { id, reason = null }): Promise<LogEntry> {
    const { workspace_id } = ctx.actor;
    await requireKept(ctx, id);
    await retryingDeadlock(() =>
      ctx.sql.begin(async (tx) => {
        const outcome = (await lockHopeless(tx, ctx.actor, workspace_id, [id])).get(id) ?? messageNotFound(id);
        if (outcome instanceof AppError) throw outcome;
        await giveUp(tx, ctx, workspace_id, [outcome]);
        const { tried: attempted, sending, untried } = outcome;
        const diff = { given_up: attempted.length, sending: sending.length, canceled: untried.waiting.length };
        await recordAudit(tx, ctx, [{ action: 'message.given_up', target_id: id, diff, reason }]);
      }),
    );
    return entryOf(ctx.sql, workspace_id, id);
  },
});

/** Locks messages and returns their open recipients, or an error for a message without open recipients. */
export async function lockHopeless(
  tx: Tx,
  actor: Actor,
  workspace_id: string,
  ids: readonly string[],
): Promise<Map<string, HopelessRecipient | AppError>> {
  const messages = new Map((await lockMailOf(tx, workspace_id, ids)).map((row) => [row.id, row]));
  const people = Map.groupBy(await lockRecipientsOf(tx, workspace_id, ids), (row) => row.message_id);
  return new Map(
    ids.map((id): [string, HopelessRecipient | AppError] => {
      const message = messages.get(id);
      const problem = accessProblem(actor, id, message);
      if (problem || !message) return [id, problem ?? messageNotFound(id)];
      const recipients = people.get(id) ?? [];
      const sending = recipients.filter(({ state }) => state === 'sending');
      const waiting = recipients.filter(
        ({ state }) => state === 'queued' || state === 'deferred' || state === 'scheduled',
      );
      if (sending.length + waiting.length === 0) return [id, nothingOpen(id)];
      const attempted = waiting.filter((row) => row.tried);
      return [id, { tried: attempted, sending, untried: { message, waiting: waiting.filter((row) => !row.tried) } }];
    }),
  );
}

/** Gives up the locked recipients. A worker that has already fetched one of their jobs finds the recipient closed. */
export async function giveUp(
  tx: Tx,
  services: Pick<Services, 'clock'>,
  workspace_id: string,
  messages: readonly HopelessRecipient[],
): Promise<void> {
  const now_ms = services.clock.now();
  const attempted = messages.flatMap(({ tried }) => tried);
  const moved = await transition(
    tx,
    'give_up',
    attempted.map((key) => ({
      ...key,
      event_id: newId('event', now_ms),
      event_facts: { reason: GIVEN_UP },
      reason: GIVEN_UP,
    })),
  );
  await dropJobs(tx, moved, attempted);
  await markGivingUp(
    tx,
    messages.flatMap(({ sending }) => sending),
  );
  await cancelUnsent(
    tx,
    services,
    workspace_id,
    messages.map(({ untried }) => untried).filter(({ waiting }) => waiting.length > 0),
  );
}

function nothingOpen(id: string): AppError {
  return new AppError(
    'not_deferred',
    `No recipient of ${id} is waiting for an attempt. See the status of each with GET /v1/email/logs/${id}.`,
  );
}
