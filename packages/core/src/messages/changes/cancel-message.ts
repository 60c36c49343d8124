import { retryingDeadlock, type Tx } from '@postrider/db';
import { cancelAllWaiting } from '@postrider/queue';
import { z } from 'zod';
import { recordAudit } from '../../audit/index.ts';
import { transition } from '../../delivery/index.ts';
import { isoTime } from '../../fields/clock.ts';
import { idPrefixes, newId } from '../../fields/ids.ts';
import { idField } from '../../fields/wire.ts';
import { dropParked } from '../../lanes/index.ts';
import type { Services } from '../../operation/context.ts';
import { operation } from '../../operation/operation.ts';
import type { JobName } from '../../process/jobs.ts';
import { returnUsage } from '../../usage/index.ts';
import { entryOf } from '../log/get-message.ts';
import { type LogEntry, logEntrySchema } from '../log/log-entry.ts';
import { requireKept, requireUnsent, type Unsent } from './unsent.ts';
import type { LockedRecipient } from './unsent-store.ts';

/**
 * Cancels a message before its first attempt and refunds its quota. A repeated call returns the same result. A worker
 * that has already fetched one of its jobs finds the recipient closed.
 */
export const cancelMessage = operation({
  name: 'email.cancel',
  scope: 'email:send',
  sandbox: true,
  summary: 'Cancel an email before its first attempt',
  reasons: ['message_not_found', 'key_domain_restricted', 'already_sent'],
  input: z.object({ id: idField(idPrefixes.message) }),
  output: logEntrySchema,
  async run(ctx, { id }): Promise<LogEntry> {
    const { workspace_id } = ctx.actor;
    await requireKept(ctx, id);
    await retryingDeadlock(() =>
      ctx.sql.begin(async (tx) => {
        const unsent = await requireUnsent(tx, ctx.actor, id);
        await cancelUnsent(tx, ctx, workspace_id, [unsent]);
        const recipients = unsent.waiting.length;
        if (recipients > 0)
          await recordAudit(tx, ctx, [{ action: 'message.canceled', target_id: id, diff: { recipients } }]);
      }),
    );
    return entryOf(ctx.sql, workspace_id, id);
  },
});

/** Closes locked messages and refunds their usage: messages that were never attempted do not count. */
export async function cancelUnsent(
  tx: Tx,
  { clock }: Pick<Services, 'clock'>,
  workspace_id: string,
  messages: readonly Unsent[],
): Promise<void> {
  const now_ms = clock.now();
  const canceled = await transition(
    tx,
    'cancel',
    messages.flatMap(({ waiting }) =>
      waiting.map((key) => ({ ...key, event_id: newId('event', now_ms), reason: 'canceled' })),
    ),
  );
  await dropJobs(
    tx,
    canceled,
    messages.flatMap(({ waiting }) => waiting),
  );
  const by_message = Map.groupBy(canceled, (row) => row.message_id);
  const live = messages.filter(({ message }) => message.mode === 'live' && by_message.has(message.id));
  for (const group of Map.groupBy(live, dayOf).values()) {
    const count = group.reduce((sum, { message }) => sum + (by_message.get(message.id)?.length ?? 0), 0);
    const [first] = group;
    if (first) await returnUsage(tx, workspace_id, first.message.created_at, count);
  }
}

/**
 * Cancels the jobs of recipients that were just closed, including parked ones, so that no queue or hold counts them.
 */
export async function dropJobs(
  tx: Tx,
  closed: readonly { readonly recipient_id: string }[],
  locked: readonly Pick<LockedRecipient, 'recipient_id' | 'next_job_id'>[],
): Promise<void> {
  const ids = new Set(closed.map(({ recipient_id }) => recipient_id));
  const jobs = locked.flatMap((row) =>
    row.next_job_id !== null && ids.has(row.recipient_id) ? [row.next_job_id] : [],
  );
  await cancelAllWaiting(tx, 'delivery.attempt' satisfies JobName, jobs);
  await dropParked(tx, jobs);
}

function dayOf({ message }: Unsent): string {
  return isoTime(message.created_at).slice(0, 10);
}
