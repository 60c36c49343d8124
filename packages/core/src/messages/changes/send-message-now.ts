import { retryingDeadlock, transactionTime } from '@postrider/db';
import { z } from 'zod';
import { recordAudit } from '../../audit/index.ts';
import { idPrefixes } from '../../fields/ids.ts';
import { idField } from '../../fields/wire.ts';
import { operation } from '../../operation/operation.ts';
import { entryOf } from '../log/get-message.ts';
import { type LogEntry, logEntrySchema } from '../log/log-entry.ts';
import { moveUnsent } from './move-unsent.ts';
import { alreadyCanceled, requireKept, requireUnsent, type Unsent } from './unsent.ts';

/** Sends scheduled messages now. For a message that is already due, the result is the same. */
export const sendMessageNow = operation({
  name: 'email.send_now',
  scope: 'email:send',
  sandbox: true,
  summary: 'Send a scheduled email now',
  input: z.object({ id: idField(idPrefixes.message) }),
  output: logEntrySchema,
  async run(ctx, { id }): Promise<LogEntry> {
    const { workspace_id } = ctx.actor;
    await requireKept(ctx, id);
    const moved = await retryingDeadlock(() =>
      ctx.sql.begin(async (tx) => {
        const unsent = await requireUnsent(tx, ctx.actor, id);
        if (unsent.waiting.length === 0) throw alreadyCanceled(id);
        const delayed = dueLater(unsent);
        if (delayed === null) return false;
        await moveUnsent(tx, ctx, workspace_id, [delayed], await transactionTime(tx));
        await recordAudit(tx, ctx, [{ action: 'message.sent_now', target_id: id }]);
        return true;
      }),
    );
    if (moved) ctx.jobs.wakeAll('delivery.attempt');
    return entryOf(ctx.sql, workspace_id, id);
  },
});

/** Returns the recipients that are scheduled for later; null if all are due. */
export function dueLater({ message, waiting }: Unsent): Unsent | null {
  const not_due = waiting.filter((row) => !row.due);
  return not_due.length === 0 ? null : { message, waiting: not_due };
}
