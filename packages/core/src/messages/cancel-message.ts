import type { Tx } from '@postrider/db';
import { z } from 'zod';
import { recordAudit } from '../audit/index.ts';
import { isoTime } from '../clock.ts';
import type { Services } from '../context.ts';
import { transition } from '../delivery/index.ts';
import { idPrefixes, newId } from '../ids.ts';
import { operation } from '../operation.ts';
import { returnUsage } from '../usage/index.ts';
import { idField } from '../wire.ts';
import { entryOf } from './get-message.ts';
import { type LogEntry, logEntrySchema } from './log-entry.ts';
import { requireUnsent, type Unsent } from './unsent.ts';

/**
 * Ends what no attempt has begun of, and gives its place in the month back. Canceled once, a message answers
 * the same again. Its jobs are left: whoever fetches one finds the recipient closed, and an
 * operator may drop it before that.
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
      const unsent = await requireUnsent(tx, ctx.actor, id);
      await cancelUnsent(tx, ctx, workspace_id, [unsent]);
      const recipients = unsent.waiting.length;
      if (recipients > 0)
        await recordAudit(tx, ctx, [{ action: 'message.canceled', target_id: id, diff: { recipients } }]);
    });
    return entryOf(ctx.sql, workspace_id, id);
  },
});

/** Ends locked mail; what was never tried is not counted. */
export async function cancelUnsent(
  tx: Tx,
  { clock }: Pick<Services, 'clock'>,
  workspace_id: string,
  mails: readonly Unsent[],
): Promise<void> {
  const now_ms = clock.now();
  const canceled = await transition(
    tx,
    'cancel',
    mails.flatMap(({ waiting }) =>
      waiting.map((key) => ({ ...key, event_id: newId('event', now_ms), reason: 'canceled' })),
    ),
  );
  const counted = Map.groupBy(canceled, (row) => row.message_id);
  const live = mails.filter(({ message }) => message.mode === 'live' && counted.has(message.id));
  for (const group of Map.groupBy(live, dayOf).values()) {
    const count = group.reduce((sum, { message }) => sum + (counted.get(message.id)?.length ?? 0), 0);
    const [first] = group;
    if (first) await returnUsage(tx, workspace_id, first.message.created_at, count);
  }
}

/** Usage is counted by day. */
function dayOf({ message }: Unsent): string {
  return isoTime(message.created_at).slice(0, 10);
}
