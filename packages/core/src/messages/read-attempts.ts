import { z } from 'zod';
import { pageFields, pagesOf } from '../list.ts';
import { operation } from '../operation.ts';
import { mailInReach } from '../reach.ts';
import { listOf } from '../wire.ts';
import { attemptEntry, attemptSchema } from './log-entry.ts';
import { type AttemptRow, lastAttemptsOf, pagesOfAttempts } from './log-store.ts';

const MOST = 1000;

const attemptOfSchema = attemptSchema.extend({ email_id: z.string() });
/** An attempt, and the message that it was for. */
export type AttemptOfMessage = z.output<typeof attemptOfSchema>;

/** The attempts of some messages, oldest first: a page of each, all in one statement. */
export const readAttempts = operation({
  name: 'email.attempts',
  scope: 'email:logs:read',
  summary: 'A page of the attempts of each of some emails',
  input: z.object({
    limit: pageFields.limit,
    of: z.array(z.object({ id: z.string(), cursor: pageFields.cursor })).max(MOST),
  }),
  output: z.array(listOf(attemptOfSchema)).readonly(),
  run(ctx, { limit, of }) {
    const scope = { secret_key: ctx.secret_key, list: 'email.attempts', workspace_id: ctx.actor.workspace_id };
    return pagesOf(scope, of, limit, async (behind) => {
      const known = await mailInReach(
        ctx,
        behind.map(({ id }) => id),
      );
      const shown = behind.filter(({ id }) => known.has(id));
      const rows = await pagesOfAttempts(ctx.sql, scope.workspace_id, shown, limit + 1);
      return [Map.groupBy(rows, (row) => row.message_id), attemptOf];
    });
  },
});

/** The last attempt for each recipient of some messages, in the order of the messages. */
export const readLastAttempts = operation({
  name: 'email.last_attempts',
  scope: 'email:logs:read',
  summary: 'The last attempt for each recipient of some emails',
  input: z.object({ ids: z.array(z.string()).max(MOST) }),
  output: z.array(z.array(attemptOfSchema).readonly()).readonly(),
  async run(ctx, { ids }) {
    const rows = await lastAttemptsOf(ctx.sql, ctx.actor.workspace_id, [...(await mailInReach(ctx, ids))]);
    const found = Map.groupBy(rows, (row) => row.message_id);
    return ids.map((id) => (found.get(id) ?? []).map(attemptOf));
  },
});

function attemptOf(row: AttemptRow & { readonly message_id: string }): AttemptOfMessage {
  return { ...attemptEntry(row), email_id: row.message_id };
}
