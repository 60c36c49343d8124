import { z } from 'zod';
import { transition } from '../delivery/index.ts';
import { idPrefixes, newId } from '../ids.ts';
import { operation } from '../operation.ts';
import { returnUsage } from '../usage/index.ts';
import { idField } from '../wire.ts';
import { entryOf } from './get-message.ts';
import { type LogEntry, logEntrySchema } from './log-entry.ts';
import { requireUnsent } from './unsent.ts';

/**
 * Ends what no attempt has begun of, and gives its place in the month back. Canceled once, a message answers
 * the same again. Its jobs are left: whoever fetches one finds the recipient closed.
 */
export const cancelMessage = operation({
  name: 'email.cancel',
  scope: 'email:send',
  summary: 'Cancel an email before its first attempt',
  input: z.object({ id: idField(idPrefixes.message) }),
  output: logEntrySchema,
  async run(ctx, { id }): Promise<LogEntry> {
    const { workspace_id } = ctx.actor;
    await ctx.sql.begin(async (tx) => {
      const { message, waiting } = await requireUnsent(tx, ctx.actor, id);
      const now_ms = ctx.clock.now();
      const canceled = await transition(
        tx,
        'cancel',
        waiting.map((key) => ({ ...key, event_id: newId('event', now_ms), reason: 'canceled' })),
      );
      const counted = message.mode === 'live' ? canceled.length : 0;
      if (counted > 0) await returnUsage(tx, workspace_id, message.created_at, counted);
    });
    return entryOf(ctx.sql, workspace_id, id);
  },
});
