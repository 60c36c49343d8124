import { type Fragment, isoTimes, listOf, type Sql, type Tx } from '@postrider/db';
import type { EventType } from '../events/index.ts';
import type { Candidates, IdRange } from '../paging/candidate-pages.ts';
import { within } from '../paging/keyset-store.ts';
import { stillSuppressed } from './in-force-store.ts';
import type { SuppressionSource } from './source.ts';

export interface NewSuppression {
  readonly workspace_id: string;
  readonly id: string;
  /** The id of the event to record if the suppression is added. */
  readonly event_id: string;
  /** With its domain in canonical form; the database folds the case of the local part. */
  readonly email: string;
  readonly source: SuppressionSource;
  /** The server's reply, or the reason given in the request. */
  readonly reason: string | null;
  /** The event that caused the suppression; null if a user requested it. */
  readonly source_event_id: string | null;
  /** null if the suppression lasts until it is deleted. */
  readonly expires_at: Date | null;
}

export interface SuppressionRow {
  readonly workspace_id: string;
  readonly id: string;
  readonly email: string;
  readonly source: SuppressionSource;
  readonly reason: string | null;
  readonly source_event_id: string | null;
  readonly created_at: Date;
  readonly expires_at: Date | null;
}

const ADDED: EventType = 'suppression.added';
const REMOVED: EventType = 'suppression.removed';

/**
 * Adds addresses to the suppression lists, each with its event, and returns the added ones. An address that is already
 * suppressed keeps its row and records no event. An expired row is replaced, and so is a row with an expiry if the
 * mailbox bounces or its owner complains. Rows are locked in primary-key order, so that two batches cannot deadlock.
 */
export async function addSuppressions(tx: Tx, rows: readonly NewSuppression[]): Promise<SuppressionRow[]> {
  if (rows.length === 0) return [];
  return tx<SuppressionRow[]>`
    with wanted as materialized (
      select distinct on (workspace_id, suppression_key(email)) a.*, suppression_key(email) as address from unnest(
        ${rows.map((row) => row.workspace_id)}::uuid[],
        ${rows.map((row) => row.id)}::uuid[],
        ${rows.map((row) => row.event_id)}::uuid[],
        ${rows.map((row) => row.email)}::text[],
        ${rows.map((row) => row.source)}::text[],
        ${rows.map((row) => row.reason)}::text[],
        ${rows.map((row) => row.source_event_id)}::uuid[],
        ${isoTimes(rows.map((row) => row.expires_at))}::timestamptz[]
      ) with ordinality as a (workspace_id, id, event_id, email, source, reason, source_event_id, expires_at, ord)
      order by workspace_id, suppression_key(email), ord
    ),
    added as (
      insert into suppressions as s (workspace_id, id, email, source, reason, source_event_id, created_at, expires_at)
      select workspace_id, id, address, source, reason, source_event_id, clock_now(), expires_at
      from wanted order by workspace_id, address
      on conflict (workspace_id, email) do update set id = excluded.id, source = excluded.source,
        reason = excluded.reason, source_event_id = excluded.source_event_id, created_at = excluded.created_at,
        expires_at = excluded.expires_at
        where s.expires_at <= clock_now()
          or (s.expires_at is not null and excluded.expires_at is null and excluded.source in ('bounce', 'complaint'))
      returning workspace_id, id, email, source, reason, source_event_id, created_at, expires_at
    ),
    recorded as (
      insert into events (workspace_id, id, type, message_id, recipient_id, sequence, facts, created_at)
      select a.workspace_id, w.event_id, ${ADDED}::text, null, null, 0,
        json_build_object('suppression', ${facts(tx, 'a')})::text, a.created_at
      from added a join wanted w on w.id = a.id
    )
    select workspace_id, id, email, source, reason, source_event_id, created_at, expires_at from added`;
}

/** Builds the facts of a row's event. */
function facts(tx: Tx, row: 'a' | 'g'): Fragment {
  return tx`json_build_object('id', id_text(${tx(row)}.id), 'email', ${tx(row)}.email, 'source', ${tx(row)}.source,
    'reason', ${tx(row)}.reason, 'source_event_id', id_text(${tx(row)}.source_event_id))`;
}

export interface Removal {
  readonly workspace_id: string;
  readonly email: string;
  /** The id of the event to record. */
  readonly event_id: string;
}

/** Why a suppression was removed. An expired suppression is always removed as expired. */
export type RemovalCause = 'deleted' | 'expired';

/**
 * Deletes suppressions, each with its event, and returns the deleted ones. Locks rows in the same order as
 * addSuppressions.
 */
export async function removeSuppressions(
  tx: Tx | Sql,
  cause: RemovalCause,
  removals: readonly Removal[],
): Promise<Pick<SuppressionRow, 'id' | 'email'>[]> {
  return tx<Pick<SuppressionRow, 'id' | 'email'>[]>`
    with wanted as materialized (
      select workspace_id, suppression_key(email) as email, event_id from unnest(
        ${removals.map((removal) => removal.workspace_id)}::uuid[],
        ${removals.map((removal) => removal.email)}::text[],
        ${removals.map((removal) => removal.event_id)}::uuid[]
      ) as a (workspace_id, email, event_id)
    ),
    locked as materialized (
      select s.workspace_id, s.email, w.event_id from suppressions s
      join wanted w on s.workspace_id = w.workspace_id and s.email = w.email
      order by s.workspace_id, s.email for update of s
    ),
    gone as (
      delete from suppressions s using locked w
      where s.workspace_id = w.workspace_id and s.email = w.email
        and (s.expires_at <= clock_now()) is ${cause === 'expired' ? tx`true` : tx`not true`}
      returning s.workspace_id, s.id, s.email, s.source, s.reason, s.source_event_id, w.event_id
    ),
    recorded as (
      insert into events (workspace_id, id, type, message_id, recipient_id, sequence, facts, created_at)
      select g.workspace_id, g.event_id, ${REMOVED}::text, null, null, 0,
        json_build_object('suppression', ${facts(tx as Tx, 'g')}, 'cause', ${cause}::text)::text, clock_now()
      from gone g
    )
    select id, email from gone`;
}

/** Returns some expired suppressions. Served by suppressions_expiry. */
export async function expiredSuppressions(
  sql: Sql,
  count: number,
): Promise<Pick<SuppressionRow, 'workspace_id' | 'email'>[]> {
  return sql<Pick<SuppressionRow, 'workspace_id' | 'email'>[]>`
    select workspace_id, email from suppressions where expires_at <= clock_now() order by expires_at limit ${count}`;
}

export interface SuppressionFilter {
  readonly sources: readonly SuppressionSource[] | null;
  readonly email: string | null;
}

/**
 * Returns suppressions newest first, without expired ones. Served by suppressions_newest, and for one address by the
 * primary key.
 */
export async function readSuppressionPage(
  sql: Sql,
  workspace_id: string,
  filter: SuppressionFilter,
  range: IdRange,
  count: number,
  limit: number,
): Promise<Candidates<SuppressionRow>> {
  const rows = await sql<(Partial<SuppressionRow> & { examined: number; edge: string | null })[]>`
    with candidates as materialized (
      select s.* from suppressions s
      where ${
        filter.email === null
          ? sql`${listOf(sql, sql`s.workspace_id`, workspace_id)} and ${within(sql, sql`s.id`, range)}`
          : sql`s.workspace_id = ${workspace_id} and s.email = suppression_key(${filter.email})
              and s.id >= ${range.from} and s.id < ${range.before}`
      }
      order by s.id desc limit ${count}
    )
    select (select count(*)::int from candidates) as examined, (select min(id) from candidates) as edge,
      s.workspace_id, s.id, s.email, s.source, s.reason, s.source_event_id, s.created_at, s.expires_at
    from (values (1)) as always
    left join lateral (
      select s.* from candidates s
      where ${stillSuppressed(sql)}
        ${filter.sources === null ? sql`` : sql`and s.source = any (${[...filter.sources]}::text[])`}
      order by s.id desc limit ${limit}
    ) s on true
    order by s.id desc`;
  return {
    examined: rows[0]?.examined ?? 0,
    edge: rows[0]?.edge ?? null,
    // The left join yields one row without a suppression if there is none.
    rows: rows.filter((row): row is SuppressionRow & { examined: number; edge: string } => row.id != null),
  };
}

export async function suppressionsByIds(
  sql: Sql,
  workspace_id: string,
  ids: readonly string[],
): Promise<SuppressionRow[]> {
  return sql<SuppressionRow[]>`
    select workspace_id, id, email, source, reason, source_event_id, created_at, expires_at from suppressions s
    where s.id = any (${[...ids]}::uuid[]) and ${listOf(sql, sql`s.workspace_id`, workspace_id)} and ${stillSuppressed(sql)}`;
}

/** Returns the suppressions of addresses. Served by the primary key. */
export async function suppressionsByEmails(
  sql: Sql,
  workspace_id: string,
  emails: readonly string[],
): Promise<SuppressionRow[]> {
  return sql<SuppressionRow[]>`
    select workspace_id, id, email, source, reason, source_event_id, created_at, expires_at from suppressions s
    where s.workspace_id = ${workspace_id}
      and s.email = any (array(select suppression_key(a.email) from unnest(${[...emails]}::text[]) as a (email)))
      and ${stillSuppressed(sql)}`;
}
