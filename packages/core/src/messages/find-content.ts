import type { Sql, Tx } from '@postrider/db';
import { AppError } from '../errors.ts';
import { messageNotFound } from './get-message.ts';
import { type ContentRow, contentOf, messageById } from './log-store.ts';

/** What a message says. The log outlives it, so a message without content is told from one that does not exist. */
export async function findContent(sql: Sql | Tx, workspace_id: string, id: string): Promise<ContentRow> {
  const content = await contentOf(sql, workspace_id, id);
  if (content) return content;
  if (!(await messageById(sql, workspace_id, id))) throw messageNotFound(id);
  throw new AppError('content_gone', 'The content of the message is no longer kept. What the log has of it is left.');
}
