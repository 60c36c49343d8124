import { type Fragment, fence, listOf, looksUpArrays, type Sql, type Tx } from '@postrider/db';
import type { DeliveryState } from '../../delivery/index.ts';
import { type CandidateRow, type Candidates, candidatesOf, type IdRange } from '../../paging/candidate-pages.ts';
import { within } from '../../paging/keyset-store.ts';
import type { Priority } from '../../priorities/index.ts';
import { DEFAULT_TRANSPORT } from '../../transports/index.ts';
import { type MessageRow, messageColumns } from './log-store.ts';
import { type MessageFilter, senderDomain } from './messages-filter.ts';

// Each filter has an index in list order. A page walks one of them, the driver, and looks up its ids in the indexes of
// the other filters; only messages on the page itself are read. A message that does not pass costs part of an index
// page and never a table page.

export type Driver =
  | { readonly kind: 'all' }
  | { readonly kind: 'status'; readonly statuses: readonly DeliveryState[] }
  | { readonly kind: 'tag'; readonly tag: string }
  | { readonly kind: 'priority'; readonly priority: Exclude<Priority, 'normal'> }
  | { readonly kind: 'recipient'; readonly email: string }
  | { readonly kind: 'sender'; readonly domain: string; readonly emails: readonly string[] };

// A probe to this depth either exhausts a filter or shows it to be so dense that another driver may be better.
const PROBE_DEPTH = 200;

/** Selects the id of a tag; null if the workspace never had a message with the tag. */
const tagId = (sql: Sql | Tx, workspace_id: string, tag: string) =>
  sql`(select g.id from tags g where g.workspace_id = ${workspace_id} and g.name = ${tag})`;

/** Returns the next ids of a driver, in list order. */
function candidates(
  sql: Sql | Tx,
  workspace_id: string,
  driver: Driver,
  range: IdRange,
  count: number,
  oldest_first = false,
): Fragment {
  const order = oldest_first ? sql`asc` : sql`desc`;
  switch (driver.kind) {
    case 'all':
      // Served by the primary key.
      return sql`
        select m.id from messages m
        where m.workspace_id = ${workspace_id} and m.id >= ${range.from} and m.id < ${range.before}
        order by m.id ${order} limit ${count}`;
    case 'status':
      // Served by messages_status.
      return sql`
        select c.id from unnest(${[...driver.statuses]}::text[]::delivery_state[]) as s (status)
        cross join lateral (
          select m.id from messages m
          where ${listOf(sql, sql`m.workspace_id`, workspace_id)} and m.status = s.status and ${within(sql, sql`m.id`, range)}
          order by m.id ${order} limit ${count}
        ) c
        order by c.id ${order} limit ${count}`;
    case 'tag':
      // The only index of message_tags is its primary key.
      return sql`
        select t.message_id as id from message_tags t
        where t.tag_id = ${tagId(sql, workspace_id, driver.tag)}
          and t.message_id >= ${range.from} and t.message_id < ${range.before}
        order by t.message_id ${order} limit ${count}`;
    case 'priority':
      // Served by messages_priority, which omits normal priority.
      return sql`
        select m.id from messages m
        where ${listOf(sql, sql`m.workspace_id`, workspace_id)} and m.priority = ${driver.priority}
          and m.priority <> 'normal' and ${within(sql, sql`m.id`, range)}
        order by m.id ${order} limit ${count}`;
    case 'recipient':
      // Served by recipients_address. A message may contain the same address twice, in different case.
      return sql`
        select distinct r.message_id as id from recipients r
        where ${listOf(sql, sql`r.workspace_id`, workspace_id)} and lower(r.email) = ${driver.email}
          and ${within(sql, sql`r.message_id`, range)}
        order by r.message_id ${order} limit ${count}`;
    case 'sender':
      // Served by messages_from_address.
      return sql`
        select c.id from unnest(${[...driver.emails]}::text[]) as s (email)
        cross join lateral (
          select m.id from messages m
          where ${listOf(sql, sql`m.workspace_id`, workspace_id)} and m.from_domain = ${driver.domain}
            and lower(m.from_email) = s.email and ${within(sql, sql`m.id`, range)}
          order by m.id ${order} limit ${count}
        ) c
        order by c.id ${order} limit ${count}`;
  }
}

/** Narrows ids by one filter, served by the same index as in `candidates`. */
type Narrowing = (ids: Fragment) => Fragment;

type Match = (id: Fragment) => Fragment;

/** Returns the ids that have a matching row, with one index search for all of them or one for each. */
function having(sql: Sql | Tx, ids: Fragment, matches: Fragment, row: (match: Match) => Fragment): Fragment {
  if (looksUpArrays(sql)) return sql`select ${matches} ${row((id) => sql`${id} = any (array(${ids}))`)}`;
  return sql`
    select p.id from unnest(array(${ids})) as p (id)
    cross join lateral (select ${row((id) => sql`${id} = p.id`)} limit 1) as found`;
}

function narrowings(sql: Sql | Tx, workspace_id: string, driver: Driver, filter: MessageFilter): Narrowing[] {
  const { statuses, tags, to, from, domain, to_domain, priority, transport } = filter;
  const { mode = null, tried: has_attempts = null } = filter;
  const filters: Narrowing[] = [];
  const keep = (id: Fragment, row: (match: Match) => Fragment) => filters.push((ids) => having(sql, ids, id, row));
  const keepMessages = (condition: Fragment) =>
    keep(
      sql`m.id`,
      (match) => sql`from messages m where m.workspace_id = ${workspace_id} and ${match(sql`m.id`)} and ${condition}`,
    );
  // A message may have several recipients.
  const keepByRecipients = (condition: Fragment) =>
    keep(
      sql`distinct r.message_id as id`,
      (match) =>
        sql`from recipients r where r.workspace_id = ${workspace_id} and ${match(sql`r.message_id`)} ${condition}`,
    );
  for (const tag of tags) {
    if (driver.kind === 'tag' && driver.tag === tag) continue;
    keep(
      sql`t.message_id as id`,
      (match) => sql`
        from message_tags t where t.tag_id = ${tagId(sql, workspace_id, tag)} and ${match(sql`t.message_id`)}`,
    );
  }
  if (to !== null && driver.kind !== 'recipient') {
    keep(
      sql`distinct r.message_id as id`,
      (match) => sql`
        from recipients r
        where ${listOf(sql, sql`r.workspace_id`, workspace_id)} and lower(r.email) = ${to}
          and ${match(sql`r.message_id`)}`,
    );
  }
  if (from !== null && driver.kind !== 'sender') {
    keep(
      sql`m.id`,
      (match) => sql`
        from messages m
        where ${listOf(sql, sql`m.workspace_id`, workspace_id)} and m.from_domain = ${senderDomain(from)}
          and lower(m.from_email) = ${from} and ${match(sql`m.id`)}`,
    );
  }
  if (statuses !== null && driver.kind !== 'status') {
    keep(
      sql`m.id`,
      (match) => sql`
        from unnest(${[...statuses]}::text[]::delivery_state[]) as s (status)
        cross join lateral (
          select m.id from messages m
          where ${listOf(sql, sql`m.workspace_id`, workspace_id)} and m.status = s.status and ${match(sql`m.id`)}
          ${fence}
        ) m`,
    );
  }
  if (filter.deferred) keepByRecipients(sql`and r.state = 'deferred'`);
  // Reads all recipients of the remaining ids by primary key.
  if (has_attempts !== null)
    keepByRecipients(sql`group by r.message_id having bool_or(r.first_attempt_at is not null) = ${has_attempts}`);
  if (mode !== null) keepMessages(sql`m.mode = ${mode}`);
  if (priority !== null && driver.kind !== 'priority') keepMessages(sql`m.priority = ${priority}`);
  // The domain is part of the primary key's index.
  if (domain !== null && (driver.kind !== 'sender' || from !== null)) keepMessages(sql`m.from_domain = ${domain}`);
  // No index: the recipients of ids that pass all other filters are looked up by primary key.
  if (to_domain !== null) keepByRecipients(sql`and r.domain = ${to_domain}`);
  // The primary key of attempts begins with the message, so the attempts of the remaining ids are read.
  if (transport !== null)
    keep(
      sql`distinct a.message_id as id`,
      (match) => sql`
        from attempts a where a.workspace_id = ${workspace_id} and ${match(sql`a.message_id`)}
          and ${transport === DEFAULT_TRANSPORT ? sql`a.transport_id is null` : sql`a.transport_id = ${transport}`}`,
    );
  return filters;
}

/** Returns a page of messages among a driver's next candidates, newest first, from either end of the range. */
export async function messagesAmong(
  sql: Sql,
  workspace_id: string,
  driver: Driver,
  filter: MessageFilter,
  range: IdRange,
  count: number,
  limit: number,
  oldest_first = false,
): Promise<Candidates<MessageRow>> {
  const [order, edge] = oldest_first ? [sql`asc`, sql`max(id)`] : [sql`desc`, sql`min(id)`];
  const passing = matchingRows(sql, workspace_id, driver, filter, matchedCandidates(sql));
  const ids = sql`array(select p.id from (${passing}) p order by p.id ${order} limit ${limit})`;
  const message = sql`select ${messageColumns(sql)} from messages m where m.workspace_id = ${workspace_id}`;
  const source = looksUpArrays(sql)
    ? sql`${message} and m.id = any (${ids})`
    : sql`select f.* from unnest(${ids}) as p (id) cross join lateral (${message} and m.id = p.id limit 1) f`;
  const rows = await sql<CandidateRow<MessageRow>[]>`
    with candidates as materialized (${candidates(sql, workspace_id, driver, range, count, oldest_first)})
    select (select count(*)::int from candidates) as examined, (select ${edge} from candidates) as edge, m.*
    from (values (1)) as always
    left join lateral (
      ${source}
    ) m on true
    order by m.id desc`;
  return candidatesOf<MessageRow>(rows);
}

/** Returns the candidate ids, in the order of the indexes in which they are looked up. */
function matchedCandidates(sql: Sql | Tx): Fragment {
  return sql`select c.id from candidates c order by c.id`;
}

/** Returns ids that pass all filters other than the driver's. */
function matchingRows(
  sql: Sql | Tx,
  workspace_id: string,
  driver: Driver,
  filter: MessageFilter,
  ids: Fragment,
): Fragment {
  return narrowings(sql, workspace_id, driver, filter).reduce((left, narrowed) => narrowed(left), ids);
}

export interface MatchingIds {
  readonly ids: readonly string[];
  readonly examined: number;
  /** The last id examined. */
  readonly edge: string | null;
}

/** Returns the same page as messagesAmong, but only its ids. */
export async function idsAmong(
  sql: Sql | Tx,
  workspace_id: string,
  driver: Driver,
  filter: MessageFilter,
  range: IdRange,
  count: number,
  limit: number,
): Promise<MatchingIds> {
  const passing = matchingRows(sql, workspace_id, driver, filter, matchedCandidates(sql));
  const [row] = await sql<MatchingIds[]>`
    with candidates as materialized (${candidates(sql, workspace_id, driver, range, count)})
    select (select count(*)::int from candidates) as examined, (select min(id) from candidates) as edge,
      array(select p.id from (${passing}) p order by p.id desc limit ${limit}) as ids`;
  return row ?? { ids: [], examined: 0, edge: null };
}

/** Counts a driver's next candidates that pass every filter. */
export async function countAmong(
  sql: Sql | Tx,
  workspace_id: string,
  driver: Driver,
  filter: MessageFilter,
  range: IdRange,
  count: number,
): Promise<{ readonly passed: number; readonly examined: number; readonly edge: string | null }> {
  const passing = matchingRows(sql, workspace_id, driver, filter, matchedCandidates(sql));
  const [row] = await sql<{ passed: number; examined: number; edge: string | null }[]>`
    with candidates as materialized (${candidates(sql, workspace_id, driver, range, count)})
    select (select count(*)::int from candidates) as examined, (select min(id) from candidates) as edge,
      (select count(*)::int from (${passing}) p) as passed`;
  return row ?? { passed: 0, examined: 0, edge: null };
}

/** Returns the ids of messages that were created before a time and still pass every filter. */
export async function stillMatching(
  tx: Tx,
  workspace_id: string,
  filter: MessageFilter,
  before: Date,
  ids: readonly string[],
): Promise<Set<string>> {
  const known = tx`
    select p.id from unnest(${ids.toSorted()}::uuid[]) as p (id)
    cross join lateral (
      select from messages m
      where m.workspace_id = ${workspace_id} and m.id = p.id and m.created_at < ${before} limit 1
    ) m`;
  const passing = matchingRows(tx, workspace_id, { kind: 'all' }, filter, known);
  const rows = await tx<{ id: string }[]>`${passing}`;
  return new Set(rows.map((row) => row.id));
}

/** Returns the most selective driver: the one whose next ids reach back furthest. */
export async function rarestDriver(
  sql: Sql | Tx,
  workspace_id: string,
  drivers: readonly [Driver, ...Driver[]],
  range: IdRange,
): Promise<Driver> {
  if (drivers.length === 1) return drivers[0];
  const probes = drivers.map(
    (driver, place) => sql`
      select ${place}::int as place, count(*)::int as met, min(p.id) as edge
      from (${candidates(sql, workspace_id, driver, range, PROBE_DEPTH)}) p`,
  );
  const rows = await sql<{ place: number; met: number; edge: string | null }[]>`
    select place, met, edge from (${probes.reduce((all, probe) => sql`${all} union all ${probe}`)}) probes
    order by met, edge limit 1`;
  return drivers[rows[0]?.place ?? 0] ?? drivers[0];
}

/**
 * Returns the sender addresses of a domain, or null if there are more than the limit. Uses a loose index scan of
 * messages_from_address.
 */
export async function sendersOf(
  sql: Sql | Tx,
  workspace_id: string,
  domain: string,
  max: number,
): Promise<readonly string[] | null> {
  const next = (after: Fragment) => sql`
    select lower(m.from_email) as from_email from messages m
    where ${listOf(sql, sql`m.workspace_id`, workspace_id)} and m.from_domain = ${domain}
      and lower(m.from_email) > ${after}
    order by lower(m.from_email) limit 1`;
  const rows = await sql<{ email: string }[]>`
    with recursive senders as (
      (${next(sql`''`)})
      union all
      select n.from_email from senders s cross join lateral (${next(sql`s.from_email`)}) n
    )
    select from_email as email from senders limit ${max + 1}`;
  return rows.length > max ? null : rows.map((row) => row.email);
}
