import { transactionTime } from '@postrider/db';
import { z } from 'zod';
import { recordAudit } from '../audit/index.ts';
import { AppError } from '../errors.ts';
import { idPrefixes } from '../ids.ts';
import { operation } from '../operation.ts';
import { timestampField } from '../timestamp-field.ts';
import { idField } from '../wire.ts';
import { entryOf } from './get-message.ts';
import { scheduleOf } from './judge.ts';
import { type LogEntry, logEntrySchema } from './log-entry.ts';
import { moveUnsent } from './move-unsent.ts';
import { SCHEDULE } from './schema.ts';
import { alreadyCanceled, requireUnsent } from './unsent.ts';

/** Moves a message of which no attempt has begun to another time. */
export const rescheduleMessage = operation({
  name: 'email.reschedule',
  scope: 'email:send',
  summary: 'Move an email to another time before its first attempt',
  input: z.object({
    id: idField(idPrefixes.message),
    scheduled_at: timestampField('scheduled_at').meta({ description: SCHEDULE }),
  }),
  output: logEntrySchema,
  async run(ctx, { id, scheduled_at }): Promise<LogEntry> {
    const { workspace_id } = ctx.actor;
    const now_is_due = await ctx.sql.begin(async (tx) => {
      const unsent = await requireUnsent(tx, ctx.actor, id);
      if (unsent.waiting.length === 0) throw alreadyCanceled(id);
      const now = await transactionTime(tx);
      const schedule = scheduleOf(scheduled_at, now);
      if (schedule instanceof AppError) throw schedule;
      await moveUnsent(tx, ctx, workspace_id, [unsent], schedule ?? now);
      const diff = { scheduled_at: [unsent.message.scheduled_at, schedule ?? now] };
      await recordAudit(tx, ctx, [{ action: 'message.rescheduled', target_id: id, diff }]);
      return schedule === null;
    });
    if (now_is_due) ctx.jobs.wake('delivery.attempt');
    return entryOf(ctx.sql, workspace_id, id);
  },
});
