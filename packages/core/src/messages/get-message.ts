import { z } from 'zod';
import { AppError } from '../errors.ts';
import { operation } from '../operation.ts';
import { type AttemptEntry, attemptEntry, type EventEntry, eventEntry, type LogEntry, logEntry } from './log-entry.ts';
import { attemptsOf, eventsOf, messageById, recipientsOf } from './log-store.ts';

export interface MessageDetail extends LogEntry {
  readonly events: readonly EventEntry[];
  readonly attempts: readonly AttemptEntry[];
}

/** One message with its timeline and every attempt. */
export const getMessage = operation({
  name: 'email.get',
  scope: 'email:logs:read',
  input: z.object({ id: z.string() }),
  async run(ctx, { id }): Promise<MessageDetail> {
    const { workspace_id } = ctx.actor;
    const [message, recipients, events, attempts] = await Promise.all([
      messageById(ctx.sql, workspace_id, id),
      recipientsOf(ctx.sql, workspace_id, [id]),
      eventsOf(ctx.sql, workspace_id, id),
      attemptsOf(ctx.sql, workspace_id, id),
    ]);
    if (!message) throw messageNotFound(id);
    return {
      ...logEntry(message, recipients.get(id) ?? []),
      events: events.map(eventEntry),
      attempts: attempts.map(attemptEntry),
    };
  },
});

export function messageNotFound(id: string): AppError {
  return new AppError(
    'message_not_found',
    `No message ${id.slice(0, 64)} exists in this workspace; ids are in the answers of POST /email/send and GET /email/logs.`,
  );
}
