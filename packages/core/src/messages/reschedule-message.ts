import { transactionTime } from '@postrider/db';
import { z } from 'zod';
import { transition } from '../delivery/index.ts';
import { AppError } from '../errors.ts';
import { idPrefixes, newJobId } from '../ids.ts';
import { operation } from '../operation.ts';
import { timestampField } from '../timestamp-field.ts';
import { idField } from '../wire.ts';
import { entryOf } from './get-message.ts';
import { scheduleOf } from './judge.ts';
import { type LogEntry, logEntrySchema } from './log-entry.ts';
import { SCHEDULE } from './schema.ts';
import { requireUnsent } from './unsent.ts';
import { setSchedule } from './unsent-store.ts';

/**
 * Moves a message of which no attempt has begun to another time. New jobs are added for it; the old ones find
 * their recipients not due, or already taken care of.
 */
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
      const { waiting } = await requireUnsent(tx, ctx.actor, id);
      if (waiting.length === 0) {
        throw new AppError('already_canceled', `${id} has been canceled; POST /email/${id}/resend sends it anew.`);
      }
      const now = await transactionTime(tx);
      const schedule = scheduleOf(scheduled_at, now);
      if (schedule instanceof AppError) throw schedule;
      const due_at = schedule ?? now;
      const now_ms = ctx.clock.now();
      const moves = waiting.map((key) => ({ ...key, due_at, job_id: newJobId(now_ms) }));
      await transition(tx, 'reschedule', moves);
      await setSchedule(tx, workspace_id, id, due_at);
      await ctx.jobs.send(
        tx,
        'delivery.attempt',
        moves.map(({ job_id, workspace_id, message_id, recipient_id }) => ({
          id: job_id,
          start_after: due_at,
          data: { workspace_id, message_id, recipient_id },
        })),
      );
      return schedule === null;
    });
    if (now_is_due) ctx.jobs.wake('delivery.attempt');
    return entryOf(ctx.sql, workspace_id, id);
  },
});
