import type { Tx } from '@postrider/db';
import { openStates } from '../../delivery/index.ts';
import type { Actor } from '../../operation/context.ts';
import type { Reason } from '../../operation/errors.ts';
import { accessProblem } from './unsent.ts';
import { deleteBodies, lockMailOf } from './unsent-store.ts';

/**
 * Deletes html, text, headers and attachments of closed messages. The log keeps addresses and events, which are
 * append-only. Returns an error for each message whose content was not deleted.
 */
export async function deleteContents(
  tx: Tx,
  actor: Actor,
  workspace_id: string,
  ids: readonly string[],
): Promise<Map<string, Reason | null>> {
  const messages = new Map((await lockMailOf(tx, workspace_id, ids)).map((row) => [row.id, row]));
  const responses = new Map<string, Reason | null>();
  for (const id of ids) {
    const message = messages.get(id);
    const problem = accessProblem(actor, id, message);
    if (problem) responses.set(id, problem.reason);
    else if (openStates.some((state) => state === message?.status)) responses.set(id, 'still_open');
    else responses.set(id, null);
  }
  const closed = ids.filter((id) => responses.get(id) === null);
  const deleted = closed.length > 0 ? await deleteBodies(tx, workspace_id, closed) : new Set<string>();
  for (const id of closed) if (!deleted.has(id)) responses.set(id, 'content_gone');
  return responses;
}
