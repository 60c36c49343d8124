import type { DeliveryState } from '../../delivery/index.ts';
import type { ActorContext } from '../../operation/context.ts';
import { type List, pageInput, pageWithin } from '../../paging/list.ts';
import type { LogEntry, RecipientEntry } from './log-entry.ts';

/** Returns a page of the recipients of a loaded message, optionally with one status. */
export function readRecipientPage(
  ctx: Pick<ActorContext, 'secret_key' | 'actor'>,
  message: LogEntry,
  { status, ...input }: { readonly limit: unknown; readonly cursor?: unknown; readonly status?: DeliveryState | null },
): List<RecipientEntry> {
  const filters = { id: message.id, status: status ?? null };
  const { workspace_id } = ctx.actor;
  const scope = { secret_key: ctx.secret_key, list: 'email.recipients', workspace_id, filters };
  const matching = message.recipients.filter((one) => status == null || one.status === status);
  return pageWithin(scope, matching.toSorted(byId), pageInput(input));
}

function byId(left: RecipientEntry, right: RecipientEntry): number {
  return left.id < right.id ? -1 : 1;
}
