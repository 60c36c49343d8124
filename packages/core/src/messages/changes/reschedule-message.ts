import { retryingDeadlock, transactionTime } from '@postrider/db';
import { z } from 'zod';
import { SCHEDULE, scheduleOf } from '../../accept/index.ts';
import { recordAudit } from '../../audit/index.ts';
import { idPrefixes } from '../../fields/ids.ts';
import { timestampField } from '../../fields/timestamp-field.ts';
import { idField } from '../../fields/wire.ts';
import { AppError } from '../../operation/errors.ts';
import { operation } from '../../operation/operation.ts';
import { entryOf } from '../log/get-message.ts';
import { type LogEntry, logEntrySchema } from '../log/log-entry.ts';
import { moveUnsent } from './move-unsent.ts';
import { alreadyCanceled, requireKept, requireUnsent } from './unsent.ts';

export const rescheduleMessage = operation({
  name: 'email.reschedule',
  scope: 'email:send',
  sandbox: true,
  summary: 'Reschedule an email before its first attempt',
  reasons: [
    'invalid_timestamp',
    'message_not_found',
    'key_domain_restricted',
    'already_sent',
    'already_canceled',
    'scheduled_in_past',
    'scheduled_too_far',
  ],
  input: z.object({
    id: idField(idPrefixes.message),
    scheduled_at: timestampField('scheduled_at', true).meta({ description: SCHEDULE }),
  }),
  output: logEntrySchema,
  async run(ctx, { id, scheduled_at }): Promise<LogEntry> {
    const { workspace_id } = ctx.actor;
    await requireKept(ctx, id);
    const now_is_due = await retryingDeadlock(() =>
      ctx.sql.begin(async (tx) => {
        const unsent = await requireUnsent(tx, ctx.actor, id);
        if (unsent.waiting.length === 0) throw alreadyCanceled(id);
        const now = await transactionTime(tx);
        const schedule = scheduleOf(scheduled_at, now);
        if (schedule instanceof AppError) throw schedule;
        await moveUnsent(tx, ctx, workspace_id, [unsent], schedule ?? now);
        const diff = { scheduled_at: [unsent.message.scheduled_at, schedule ?? now] };
        await recordAudit(tx, ctx, [{ action: 'message.rescheduled', target_id: id, diff }]);
        return schedule === null;
      }),
    );
    if (now_is_due) ctx.jobs.wakeAll('delivery.attempt');
    return entryOf(ctx.sql, workspace_id, id);
  },
});
