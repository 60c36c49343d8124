import { z } from 'zod';
import { idFloor, idTime, isId } from '../../fields/ids.ts';
import { listOf } from '../../fields/wire.ts';
import { accessibleMail } from '../../operation/access.ts';
import { operation } from '../../operation/operation.ts';
import { type Ages, isKept, oldestKept } from '../../operation/retention.ts';
import { pageFields, pagesOf } from '../../paging/list.ts';
import { attemptEntry, attemptSchema, keptAttempts } from './log-entry.ts';
import { type AttemptRow, attemptsNear, lastAttemptsOf, readAttemptPages } from './log-store.ts';

const MAX_IDS = 1000;
const MAX_IDS_PER_LOOKUP = 100;
// A dead worker's attempt leaves no event; the attempt that takes over does, within this time.
const TAKEN_OVER_MS = 15 * 60_000;
// The maximum number of events read for all ids together. One millisecond contains the events of a few commits, even
// for 100 ids.
const WALKS = [
  { within_ms: 1, most: 50_000 },
  { within_ms: TAKEN_OVER_MS, most: 5000 },
];

type MailAttempt = AttemptRow & { readonly message_id: string };
const mailAttemptSchema = attemptSchema.extend({ email_id: z.string() });
/** An attempt and its message. */
export type MessageAttempt = z.output<typeof mailAttemptSchema>;

/** Returns a page of attempts per message, oldest first, in one statement. */
export const readAttempts = operation({
  name: 'email.attempts',
  scope: 'email:logs:read',
  sandbox: true,
  summary: 'A page of attempts for each email',
  input: z.object({
    limit: pageFields.limit,
    of: z.array(z.object({ id: z.string(), cursor: pageFields.cursor })).max(MAX_IDS),
  }),
  output: z.array(listOf(mailAttemptSchema)).readonly(),
  run(ctx, { limit, of }) {
    const scope = { secret_key: ctx.secret_key, list: 'email.attempts', workspace_id: ctx.actor.workspace_id };
    return pagesOf(scope, of, limit, async (cursors) => {
      const known = await accessibleMail(
        ctx,
        cursors.map(({ id }) => id),
      );
      const oldest = oldestKept(ctx, 'events', 'attempt');
      const attempts = cursors
        .filter(({ id }) => known.has(id))
        .map((one) => (one.behind < oldest ? { ...one, behind: oldest } : one));
      const rows = await readAttemptPages(ctx.sql, scope.workspace_id, attempts, limit + 1);
      return [Map.groupBy(rows, (row) => row.message_id), (row: MailAttempt) => attemptOf(ctx, row)];
    });
  },
});

/** Returns the last attempt of each recipient, in the order of the messages. */
export const readLastAttempts = operation({
  name: 'email.last_attempts',
  scope: 'email:logs:read',
  sandbox: true,
  summary: 'The last attempt for each recipient of several emails',
  input: z.object({ ids: z.array(z.string()).max(MAX_IDS) }),
  output: z.array(z.array(mailAttemptSchema).readonly()).readonly(),
  async run(ctx, { ids }) {
    const rows = await lastAttemptsOf(ctx.sql, ctx.actor.workspace_id, [...(await accessibleMail(ctx, ids))]);
    const by_message = Map.groupBy(rows, (row) => row.message_id);
    return ids.map((id) => keptAttempts(ctx, by_message.get(id) ?? []).map((row) => attemptOf(ctx, row)));
  },
});

/** Returns attempts by id, in the given order; null for those outside the workspace. */
export const readAttemptsById = operation({
  name: 'email.attempts_by_id',
  scope: 'email:logs:read',
  sandbox: true,
  summary: 'Attempts by ID',
  input: z.object({ ids: z.array(z.string()).max(MAX_IDS_PER_LOOKUP) }),
  output: z.array(mailAttemptSchema.nullable()).readonly(),
  async run(ctx, { ids }): Promise<readonly (MessageAttempt | null)[]> {
    const by_message = new Map<string, MessageAttempt>();
    for (const { within_ms, most: max } of WALKS) {
      const missing_ids = ids.filter((id) => isId('attempt', id) && isKept(ctx, 'events', id) && !by_message.has(id));
      if (missing_ids.length === 0) break;
      const windows = windowsBehind(missing_ids.map(idTime), within_ms);
      for (const row of await attemptsNear(ctx.sql, ctx.actor.workspace_id, missing_ids, windows, max))
        by_message.set(row.id, attemptOf(ctx, row));
    }
    const known = await accessibleMail(
      ctx,
      [...by_message.values()].map(({ email_id }) => email_id),
    );
    return ids.map((id) => {
      const attempt = by_message.get(id);
      return attempt && known.has(attempt.email_id) ? attempt : null;
    });
  },
});

/** Returns non-overlapping time windows that start at the given times. */
function windowsBehind(times: readonly number[], within_ms: number) {
  const starts = [...new Set(times)].toSorted((a, b) => a - b);
  return starts.map((start, index) => ({
    from: idFloor('event', start),
    before: idFloor('event', Math.min(start + within_ms, starts[index + 1] ?? Number.POSITIVE_INFINITY)),
  }));
}

function attemptOf(ages: Ages, row: MailAttempt): MessageAttempt {
  return { ...attemptEntry(ages, row), email_id: row.message_id };
}
