import { apart, type Fragment, fence, listOf, type Sql, type Tx } from '@postrider/db';
import { idFloor, idTime, isId } from '../fields/ids.ts';
import type { KeyMode } from '../operation/secrets.ts';
import type { Candidates, IdRange } from '../paging/candidate-pages.ts';
import { idIn, within } from '../paging/keyset-store.ts';
import type { EventType } from './catalogue.ts';

export interface EventRow {
  id: string;
  type: string;
  message_id: string | null;
  recipient_id: string | null;
  sequence: number;
  facts: string;
  created_at: Date;
}

/** The part of a message that its events show. */
export interface SubjectRow {
  id: string;
  from_address: string;
  from_domain: string;
  to_addresses: string[];
  subject: string;
  tags: string[];
  metadata: string;
  created_at: Date;
}

export interface EventFilter {
  /** Only events of messages with this mode; null means all. */
  readonly mode: KeyMode | null;
  readonly types: readonly EventType[] | null;
  readonly message_id: string | null;
}

/** The types that events_uncommon leaves out; the query repeats them, so that the planner can use the index. */
const commonTypes: readonly EventType[] = ['email.queued', 'email.delivered'];

export function areUncommon(types: readonly EventType[]): boolean {
  return !types.some((type) => commonTypes.includes(type));
}

/**
 * Returns a page, newest first. Served by events_message for a single message, by events_uncommon if it covers all
 * requested types, otherwise by the primary key.
 */
export async function readEventPage(
  sql: Sql,
  workspace_id: string,
  filter: EventFilter,
  range: IdRange,
  count: number,
  limit: number,
): Promise<Candidates<EventRow>> {
  const rows = await sql<(Partial<EventRow> & { examined: number; edge: string | null })[]>`
    with candidates as materialized (${candidateIds(sql, workspace_id, filter, range, count)})
    select (select count(*)::int from candidates) as examined, (select min(id) from candidates) as edge,
      e.id, e.type, e.message_id, e.recipient_id, e.sequence, e.facts, e.created_at
    from (values (1)) as always
    left join lateral (
      select e.* from candidates c
      cross join lateral (
        select * from events x where x.workspace_id = ${workspace_id} and x.id = c.id
          ${filter.types === null ? sql`` : sql`and x.type = any (${[...filter.types]}::text[])`}
          ${filter.mode === null ? sql`` : sql`and ${ofMail(sql, sql`x`, workspace_id, filter.mode)}`} ${fence}
      ) e
      order by c.id desc limit ${limit}
    ) e on true
    order by e.id desc`;
  return {
    examined: rows[0]?.examined ?? 0,
    edge: rows[0]?.edge ?? null,
    // The left join yields one row without an event if there is none.
    rows: rows.filter((row): row is EventRow & { examined: number; edge: string } => row.id !== null),
  };
}

function ofMail(sql: Sql, event: Fragment, workspace_id: string, mode: KeyMode): Fragment {
  return sql`exists (
    select from messages m where m.workspace_id = ${workspace_id} and m.id = ${event}.message_id and m.mode = ${mode})`;
}

function candidateIds(sql: Sql, workspace_id: string, filter: EventFilter, range: IdRange, count: number): Fragment {
  if (filter.message_id !== null) {
    return sql`
      select e.id from events e
      where e.message_id = ${filter.message_id} and ${apart(sql, sql`e.workspace_id`, workspace_id)}
        and ${within(sql, sql`e.id`, range)}
      order by e.id desc limit ${count}`;
  }
  if (filter.types !== null && areUncommon(filter.types)) {
    return sql`
      select c.id from unnest(${[...filter.types]}::text[]) as t (type)
      cross join lateral (
        select e.id from events e
        where ${listOf(sql, sql`e.workspace_id`, workspace_id)} and e.type = t.type
          and e.type not in ('email.queued', 'email.delivered') and ${within(sql, sql`e.id`, range)}
        order by e.id desc limit ${count}
      ) c
      order by c.id desc limit ${count}`;
  }
  return sql`
    select e.id from events e
    where e.workspace_id = ${workspace_id} and e.id >= ${range.from} and e.id < ${range.before}
    order by e.id desc limit ${count}`;
}

/** Returns the timeline of one message. Served by events_message. */
export async function eventsOf(sql: Sql, workspace_id: string, message_id: string): Promise<EventRow[]> {
  return sql<EventRow[]>`
    select id, type, message_id, recipient_id, sequence, facts, created_at
    from events where message_id = ${message_id} and ${apart(sql, sql`workspace_id`, workspace_id)}
    order by sequence`;
}

export async function eventsByIds(sql: Sql, workspace_id: string, ids: readonly string[]): Promise<EventRow[]> {
  return sql<EventRow[]>`
    select e.id, e.type, e.message_id, e.recipient_id, e.sequence, e.facts, e.created_at
    from events e where e.workspace_id = ${workspace_id} and ${idIn(sql, sql`e.id`, ids)}`;
}

/** Returns events after an id, oldest first, from a bounded number of rows. Served by the primary key. */
export async function nextEvents(
  sql: Sql,
  workspace_id: string,
  filter: EventFilter,
  cursor: string,
  count: number,
): Promise<{ readonly ids: readonly string[]; readonly examined: number; readonly edge: string | null }> {
  const [row] = await sql<{ ids: string[]; examined: number; edge: string | null }[]>`
    with candidates as materialized (
      select e.id, e.type, e.message_id from events e
      where e.workspace_id = ${workspace_id} and e.id > ${cursor} order by e.id limit ${count}
    )
    select count(*)::int as examined, max(c.id) as edge,
      coalesce(array_agg(c.id) filter (where
        (${filter.types === null} or c.type = any (${[...(filter.types ?? [])]}::text[]))
        and (${filter.message_id === null} or c.message_id = ${filter.message_id})
        ${filter.mode === null ? sql`` : sql`and ${ofMail(sql, sql`c`, workspace_id, filter.mode)}`}), '{}') as ids
    from candidates c`;
  return row ?? { ids: [], examined: 0, edge: null };
}

/** A message, with the last event of its previous page; `behind` is empty for the first page. */
export type TimelinePosition = { readonly id: string; readonly behind: string };

/** Returns a page of the timeline of each message, oldest first. */
export async function readTimelinePages(
  sql: Sql,
  workspace_id: string,
  positions: readonly TimelinePosition[],
  count: number,
): Promise<EventRow[]> {
  return sql<EventRow[]>`
    select e.* from unnest(${positions.map((one) => one.id)}::uuid[], ${positions.map((one) => one.behind)}::uuid[]) as q (id, behind)
    cross join lateral (
      select e.id, e.type, e.message_id, e.recipient_id, e.sequence, e.facts, e.created_at from events e
      where e.message_id = q.id and ${apart(sql, sql`e.workspace_id`, workspace_id)}
        and e.id > q.behind and e.id >= ${eventFloor(positions.map((one) => one.id))}
      order by e.id limit ${count}
    ) e`;
}

/**
 * Returns the last event of each message: the one referenced by its row, not the greatest id, as the clocks of two
 * processes may differ. Served by events_message, at the first step of the walk unless clocks differ.
 */
export async function lastEventsOf(sql: Sql, workspace_id: string, ids: readonly string[]): Promise<EventRow[]> {
  return sql<EventRow[]>`
    select e.* from messages m
    cross join lateral (
      select e.id, e.type, e.message_id, e.recipient_id, e.sequence, e.facts, e.created_at from events e
      where e.message_id = m.id and ${apart(sql, sql`e.workspace_id`, workspace_id)} and e.id >= ${eventFloor(ids)}
        and e.sequence = m.event_count
      order by e.id desc limit 1
    ) e
    where m.workspace_id = ${workspace_id} and ${idIn(sql, sql`m.id`, ids)}`;
}

const CLOCK_SKEW_MS = 3_600_000;

/**
 * Returns an id below which these messages have no event, so that older partitions are pruned when the statement
 * starts.
 */
function eventFloor(message_ids: readonly string[]): string {
  const times = message_ids.filter((id) => isId('message', id)).map(idTime);
  return times.length < message_ids.length ? '' : idFloor('event', Math.min(...times) - CLOCK_SKEW_MS);
}

export async function subjectsOf(
  sql: Sql,
  workspace_id: string,
  message_ids: readonly string[],
): Promise<Map<string, SubjectRow>> {
  const rows = await sql<SubjectRow[]>`
    select id, from_address, from_domain, to_addresses, subject, tags, metadata, created_at from messages
    where workspace_id = ${workspace_id} and ${idIn(sql, sql`id`, message_ids)}`;
  return new Map(rows.map((row) => [row.id, row]));
}

/** Returns the recipient addresses of some events, by recipient id. */
export async function addressesOf(
  sql: Sql,
  workspace_id: string,
  events: readonly EventRow[],
): Promise<Map<string, string>> {
  const recipient_events = events.filter((event) => event.recipient_id !== null);
  const message_ids = recipient_events.flatMap((event) => (event.message_id === null ? [] : [event.message_id]));
  const rows = await sql<{ id: string; email: string }[]>`
    select id, email from recipients
    where ${idIn(sql, sql`message_id`, message_ids)}
      and id = any (${recipient_events.map((event) => event.recipient_id)}::uuid[])
      and workspace_id = ${workspace_id}`;
  return new Map(rows.map((row) => [row.id, row.email]));
}

/** Records an event that is not about email; such events need no order, so they have no sequence. */
export async function recordEvent(
  tx: Tx,
  event: {
    readonly workspace_id: string;
    readonly id: string;
    readonly type: EventType;
    readonly facts: Readonly<Record<string, unknown>>;
  },
): Promise<void> {
  await tx`
    insert into events (workspace_id, id, type, sequence, facts, created_at)
    values (${event.workspace_id}, ${event.id}, ${event.type}, 0, ${JSON.stringify(event.facts)}, clock_now())`;
}
