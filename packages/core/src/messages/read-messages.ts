import type { Sql } from '@postrider/db';
import { z } from 'zod';
import { operation } from '../operation.ts';
import { type LogEntry, logEntry, logEntrySchema } from './log-entry.ts';
import { messagesByIds, recipientsOf } from './log-store.ts';

const MOST = 1000;

/** Some messages by id, in the order asked for; null for what is not in the workspace. */
export const readMessages = operation({
  name: 'email.read_many',
  scope: 'email:logs:read',
  summary: 'Some emails by id',
  input: z.object({ ids: z.array(z.string()).max(MOST) }),
  output: z.array(logEntrySchema.nullable()).readonly(),
  async run(ctx, { ids }): Promise<readonly (LogEntry | null)[]> {
    const found = await entriesOf(ctx.sql, ctx.actor.workspace_id, ids);
    return ids.map((id) => found.get(id) ?? null);
  },
});

export async function entriesOf(
  sql: Sql,
  workspace_id: string,
  ids: readonly string[],
): Promise<Map<string, LogEntry>> {
  const [messages, recipients] = await Promise.all([
    messagesByIds(sql, workspace_id, ids),
    recipientsOf(sql, workspace_id, ids),
  ]);
  return new Map(messages.map((message) => [message.id, logEntry(message, recipients.get(message.id) ?? [])]));
}
