import type { Sql, Tx } from '@postrider/db';
import { type LogEntry, logEntry } from './log-entry.ts';
import { messagesByIds, recipientsOf, type WorkersSeen } from './log-store.ts';

/** Returns list entries by message id; deleted messages are absent. */
export async function entriesOf(
  sql: Sql | Tx,
  workspace_id: string,
  ids: readonly string[],
  workers: WorkersSeen | null = null,
): Promise<Map<string, LogEntry>> {
  const [messages, recipients] = await Promise.all([
    messagesByIds(sql, workspace_id, ids),
    recipientsOf(sql, workspace_id, ids, workers),
  ]);
  return new Map(messages.map((row) => [row.id, logEntry(row, recipients.get(row.id) ?? [])]));
}
