import { setTimeout as pause } from 'node:timers/promises';
import { z } from 'zod';
import { idFloor, idTime } from '../fields/ids.ts';
import { accessibleMode } from '../operation/access.ts';
import type { ActorContext } from '../operation/context.ts';
import { operation } from '../operation/operation.ts';
import { goneBefore } from '../operation/retention.ts';
import { type CursorScope, readCursor, writeCursor } from '../paging/list.ts';
import type { EventEntry } from './event-entry.ts';
import { eventFilterFields } from './list-events.ts';
import { eventEntries } from './read-events.ts';
import { type EventFilter, eventsByIds, nextEvents } from './store.ts';

const POLL_MS = 500;
const STEP = 1000;
/** An id may be this much older than its commit, due to the length of a transaction and clock skew. */
const LATE_MS = 30_000;
const OVERLAP_MS = 5000;

export interface FollowedEvent {
  readonly node: EventEntry;
  /** Cursor to resume from. */
  readonly cursor: string;
}

/**
 * Streams the events of a workspace as they are committed, or from a cursor; null is a keep-alive. Events are in id
 * order except those committed late: polls reread the last half minute, and yield late events after newer ones. A
 * stream yields no event twice. A stream with a cursor begins half a minute before it, so that late events are not
 * missed; the client drops the ids it has seen.
 */
export const followEvents = operation({
  name: 'events.follow',
  scope: 'email:logs:read',
  sandbox: true,
  summary: 'Stream new events',
  input: z.object({ after: z.string().optional(), type: eventFilterFields.type, email_id: eventFilterFields.email_id }),
  output: z.custom<AsyncGenerator<FollowedEvent | null>>(),
  async run(ctx, { after, ...filters }) {
    const { workspace_id } = ctx.actor;
    const scope = { secret_key: ctx.secret_key, list: 'events.follow', workspace_id, filters };
    const position = readCursor(scope, after);
    const begin = Math.max(
      (position === null ? ctx.clock.now() : idTime(position)) - LATE_MS,
      goneBefore(ctx, 'events'),
    );
    const filter = {
      types: filters.type ?? null,
      message_id: filters.email_id ?? null,
      mode: accessibleMode(ctx.actor),
    };
    const events = follow(ctx, scope, filter, { begin: idFloor('event', begin), skip_existing: position === null });
    // The first poll completes before the response, so that everything committed after the response is seen.
    if (position === null) await events.next();
    return events;
  },
});

async function* follow(
  ctx: ActorContext,
  scope: CursorScope,
  filter: EventFilter,
  { begin, skip_existing }: { readonly begin: string; readonly skip_existing: boolean },
): AsyncGenerator<FollowedEvent | null> {
  const { workspace_id } = scope;
  const visited = new Set<string>();
  let head = begin;
  let looked_back = performance.now();
  // Existing events are not yielded. Events committed from now on are yielded, however old their ids.
  let silent = skip_existing;
  for (;;) {
    const late_id = idFloor('event', ctx.clock.now() - LATE_MS);
    const back = performance.now() - looked_back >= OVERLAP_MS;
    if (back) looked_back = performance.now();
    let from = back ? maxId(begin, earlier(head, late_id)) : head;
    for (;;) {
      const step = await nextEvents(ctx.sql, workspace_id, filter, from, STEP);
      const fresh = step.ids.filter((id) => !visited.has(id));
      if (silent) for (const id of fresh) visited.add(id);
      else if (fresh.length > 0) {
        const rows = await eventsByIds(ctx.sql, workspace_id, fresh);
        const entries = await eventEntries(ctx, rows);
        for (const node of entries.toSorted((left, right) => (left.id < right.id ? -1 : 1))) {
          visited.add(node.id);
          yield { node, cursor: writeCursor(scope, node.id) };
        }
      }
      head = maxId(head, step.edge ?? head);
      if (step.edge === null || step.examined < STEP) break;
      from = step.edge;
    }
    for (const id of visited) if (id < late_id) visited.delete(id);
    silent = false;
    yield null;
    await pause(POLL_MS);
  }
}

function maxId(left: string, right: string): string {
  return left > right ? left : right;
}

function earlier(left: string, right: string): string {
  return left < right ? left : right;
}
