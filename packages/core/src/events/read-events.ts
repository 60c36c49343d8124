import { z } from 'zod';
import { isoTime } from '../fields/clock.ts';
import { isId } from '../fields/ids.ts';
import { listOf, timeField } from '../fields/wire.ts';
import { accessibleMail, ownModeFilter } from '../operation/access.ts';
import type { ActorContext } from '../operation/context.ts';
import { operation } from '../operation/operation.ts';
import { isKept, oldestKept } from '../operation/retention.ts';
import { pageFields, pagesOf } from '../paging/list.ts';
import { type EventEntry, eventEntry, eventSchema } from './event-entry.ts';
import { addressesOf, type EventRow, eventsByIds, lastEventsOf, readTimelinePages, subjectsOf } from './store.ts';

const MAX_IDS = 1000;

const timelineSchema = z.object({
  id: z.string(),
  type: z.string(),
  created_at: timeField,
  sequence: z.int(),
  email_id: z.string().nullable(),
  recipient_id: z.string().nullable(),
  facts: z.string().meta({ description: 'JSON, as recorded.' }),
});
/** An event without the data of its message, which the caller already has. */
export type TimelineEvent = z.output<typeof timelineSchema>;

/** Returns events by id, in the order given; null for those not in the workspace. */
export const readEvents = operation({
  name: 'events.read_many',
  scope: 'email:logs:read',
  sandbox: true,
  summary: 'Events by ID',
  input: z.object({ ids: z.array(z.string()).max(MAX_IDS) }),
  output: z.array(eventSchema.nullable()).readonly(),
  async run(ctx, { ids }): Promise<readonly (EventEntry | null)[]> {
    const kept_ids = ids.filter((id) => isId('event', id) && isKept(ctx, 'events', id));
    const found_rows = kept_ids.length === 0 ? [] : await eventsByIds(ctx.sql, ctx.actor.workspace_id, kept_ids);
    const known = await ownModeFilter(
      ctx,
      found_rows.map(({ message_id }) => message_id ?? ''),
    );
    const rows = found_rows.filter(({ message_id }) => known.has(message_id ?? ''));
    const entries = await eventEntries(ctx, rows);
    const by_id = new Map(entries.map((entry) => [entry.id, entry]));
    return ids.map((id) => by_id.get(id) ?? null);
  },
});

/** Returns the timelines of some messages, oldest first: one page each, in one statement. */
export const readTimelines = operation({
  name: 'email.timelines',
  scope: 'email:logs:read',
  sandbox: true,
  summary: 'A page of events for each email',
  input: z.object({
    limit: pageFields.limit,
    of: z.array(z.object({ id: z.string(), cursor: pageFields.cursor })).max(MAX_IDS),
  }),
  output: z.array(listOf(timelineSchema)).readonly(),
  run(ctx, { limit, of }) {
    const scope = { secret_key: ctx.secret_key, list: 'email.timeline', workspace_id: ctx.actor.workspace_id };
    return pagesOf(scope, of, limit, async (cursors) => {
      const known = await accessibleMail(
        ctx,
        cursors.map(({ id }) => id),
      );
      const oldest = oldestKept(ctx, 'events', 'event');
      const attempts = cursors
        .filter(({ id }) => known.has(id))
        .map((one) => (one.behind < oldest ? { ...one, behind: oldest } : one));
      const rows = await readTimelinePages(ctx.sql, scope.workspace_id, attempts, limit + 1);
      return [Map.groupBy(rows, (row) => row.message_id ?? ''), timelineEvent];
    });
  },
});

/** Returns the newest event of each message, in the order given. */
export const readLastEvents = operation({
  name: 'email.last_events',
  scope: 'email:logs:read',
  sandbox: true,
  summary: 'The newest event for each email',
  input: z.object({ ids: z.array(z.string()).max(MAX_IDS) }),
  output: z.array(timelineSchema.nullable()).readonly(),
  async run(ctx, { ids }) {
    const rows = await lastEventsOf(ctx.sql, ctx.actor.workspace_id, [...(await accessibleMail(ctx, ids))]);
    const readable = rows.filter(({ id }) => isKept(ctx, 'events', id));
    const by_message = new Map(readable.map((row) => [row.message_id, timelineEvent(row)]));
    return ids.map((id) => by_message.get(id) ?? null);
  },
});

function timelineEvent(row: EventRow): TimelineEvent {
  const { id, type, sequence, message_id, recipient_id, facts, created_at } = row;
  return { id, type, sequence, email_id: message_id, recipient_id, facts, created_at: isoTime(created_at) };
}

/** Combines event rows with their messages and recipients, as far as those are retained. */
export async function eventEntries(ctx: ActorContext, rows: readonly EventRow[]): Promise<EventEntry[]> {
  const { workspace_id } = ctx.actor;
  const message_ids = [...new Set(rows.flatMap((row) => (row.message_id === null ? [] : [row.message_id])))];
  const known = await accessibleMail(ctx, message_ids);
  const [messages, addresses] = await Promise.all([
    subjectsOf(ctx.sql, workspace_id, [...known]),
    addressesOf(
      ctx.sql,
      workspace_id,
      rows.filter((row) => known.has(row.message_id ?? '')),
    ),
  ]);
  return rows.map((row) => eventEntry(row, messages.get(row.message_id ?? ''), addresses.get(row.recipient_id ?? '')));
}
