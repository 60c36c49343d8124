import type { Sql, Tx } from '@postrider/db';
import { AppError } from '../../operation/errors.ts';
import { type Ages, oldestKept } from '../../operation/retention.ts';
import { messageNotFound } from './get-message.ts';
import { type ContentRow, contentOf, messageById } from './log-store.ts';

/**
 * Returns the content of a message. Throws content_gone if the content was deleted, because the log outlives it, and
 * message_not_found if the id is unknown.
 */
export async function findContent(sql: Sql | Tx, ages: Ages, workspace_id: string, id: string): Promise<ContentRow> {
  const content = await contentOf(sql, workspace_id, id, oldestKept(ages, 'bodies', 'message'));
  if (content) return content;
  if (!(await messageById(sql, workspace_id, id))) throw messageNotFound(id);
  throw new AppError('content_gone', 'The content of the message was deleted. Its log entry remains.');
}
