import { retryingDeadlock, type Tx, transactionTime } from '@postrider/db';
import { z } from 'zod';
import { recordAudit } from '../../audit/index.ts';
import { addDeliveryJobs, transition } from '../../delivery/index.ts';
import { idPrefixes, newJobId } from '../../fields/ids.ts';
import { idField } from '../../fields/wire.ts';
import type { Actor, Services } from '../../operation/context.ts';
import { AppError } from '../../operation/errors.ts';
import { operation } from '../../operation/operation.ts';
import { entryOf, messageNotFound } from '../log/get-message.ts';
import { type LogEntry, logEntrySchema } from '../log/log-entry.ts';
import { accessProblem, requireKept } from './unsent.ts';
import { type LockedRecipient, lockMailOf, lockRecipientsOf } from './unsent-store.ts';

/** Retries deferred recipients now. Recipients that are already due keep their place in the queue. */
export const retryMessageNow = operation({
  name: 'email.retry_now',
  scope: 'email:send',
  sandbox: true,
  summary: 'Retry the deferred recipients of an email now',
  input: z.object({ id: idField(idPrefixes.message) }),
  output: logEntrySchema,
  async run(ctx, { id }): Promise<LogEntry> {
    const { workspace_id } = ctx.actor;
    await requireKept(ctx, id);
    const moved = await retryingDeadlock(() =>
      ctx.sql.begin(async (tx) => {
        const outcome = (await lockDeferred(tx, ctx.actor, workspace_id, [id])).get(id) ?? messageNotFound(id);
        if (outcome instanceof AppError) throw outcome;
        await retryDeferred(tx, ctx, outcome);
        if (outcome.length > 0) await recordAudit(tx, ctx, [{ action: 'message.retried', target_id: id }]);
        return outcome.length > 0;
      }),
    );
    if (moved) ctx.jobs.wakeAll('delivery.attempt');
    return entryOf(ctx.sql, workspace_id, id);
  },
});

/** Locks messages and returns, for each, the recipients with a future retry, or an error if no recipient has one. */
export async function lockDeferred(
  tx: Tx,
  actor: Actor,
  workspace_id: string,
  ids: readonly string[],
): Promise<Map<string, readonly LockedRecipient[] | AppError>> {
  const messages = new Map((await lockMailOf(tx, workspace_id, ids)).map((row) => [row.id, row]));
  const people = Map.groupBy(await lockRecipientsOf(tx, workspace_id, ids), (row) => row.message_id);
  return new Map(
    ids.map((id): [string, readonly LockedRecipient[] | AppError] => {
      const problem = accessProblem(actor, id, messages.get(id));
      if (problem) return [id, problem];
      const deferred = (people.get(id) ?? []).filter((row) => row.state === 'deferred');
      if (deferred.length === 0) return [id, notDeferred(id)];
      return [id, deferred.filter((row) => !row.due)];
    }),
  );
}

/**
 * Makes locked recipients due with new jobs; the old jobs are stale and do nothing. The extra attempt counts, and the
 * retry schedule continues after it.
 */
export async function retryDeferred(
  tx: Tx,
  { jobs, clock }: Pick<Services, 'jobs' | 'clock'>,
  deferred: readonly LockedRecipient[],
): Promise<void> {
  if (deferred.length === 0) return;
  const due_at = await transactionTime(tx);
  const now_ms = clock.now();
  const moves = deferred.map((key) => ({ ...key, due_at, job_id: newJobId(now_ms) }));
  await transition(tx, 'retry', moves);
  await addDeliveryJobs(
    tx,
    jobs,
    moves.map((move) => ({ ...move, start_after: due_at })),
  );
}

function notDeferred(id: string): AppError {
  return new AppError(
    'not_deferred',
    `No recipient of ${id} is waiting for a retry. See the status of each with GET /v1/email/logs/${id}.`,
  );
}
