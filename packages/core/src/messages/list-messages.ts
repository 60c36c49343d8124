import { z } from 'zod';
import { type DeliveryState, deliveryStates } from '../delivery/index.ts';
import { type List, pageFields, pageOf, readCursor } from '../list.ts';
import { operation } from '../operation.ts';
import { issueFor } from '../parse-input.ts';
import { type LogEntry, logEntry } from './log-entry.ts';
import { pageOfMessages, recipientsOf } from './log-store.ts';

const statusField = z.string().transform((text, context) => {
  const statuses = text.split(',').map((part) => part.trim());
  const known = statuses.filter((status): status is DeliveryState => deliveryStates.some((state) => state === status));
  if (known.length === statuses.length) return [...new Set(known)].sort();
  context.addIssue(issueFor('invalid_status', `status must be one or a comma list of ${deliveryStates.join(', ')}.`));
  return z.NEVER;
});

export const listMessages = operation({
  name: 'email.logs',
  scope: 'email:logs:read',
  input: z.object({ ...pageFields, status: statusField.optional() }),
  async run(ctx, { limit, cursor, ...filters }): Promise<List<LogEntry>> {
    const { workspace_id } = ctx.actor;
    const scope = { secret_key: ctx.secret_key, list: 'email.logs', workspace_id, filters };
    const before = readCursor(scope, cursor);
    const rows = await pageOfMessages(ctx.sql, workspace_id, { statuses: filters.status ?? null }, before, limit + 1);
    const recipients = await recipientsOf(
      ctx.sql,
      workspace_id,
      rows.slice(0, limit).map((row) => row.id),
    );
    return pageOf(scope, rows, limit, (row) => logEntry(row, recipients.get(row.id) ?? []));
  },
});
