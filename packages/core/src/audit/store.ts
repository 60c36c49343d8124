import { type Fragment, idKindOf, listOf, type Sql, type Tx } from '@postrider/db';
import type { Candidates, IdRange } from '../paging/candidate-pages.ts';
import { within } from '../paging/keyset-store.ts';
import type { AuditAction } from './actions.ts';

/** An entry before the log assigns its time and sequence. */
export interface AuditDraft {
  readonly workspace_id: string;
  readonly id: string;
  readonly actor_kind: string;
  readonly actor_id: string;
  readonly actor_name: string;
  readonly via: string;
  readonly action: AuditAction;
  readonly target_id: string;
  readonly diff: string | null;
  readonly reason: string | null;
  readonly address: string | null;
  readonly request_id: string;
}

/**
 * Returns the statement that appends drafts, to run alone or as part of another. Chains are locked in name order, so
 * concurrent writers cannot deadlock. `where` selects drafts by index.
 */
export function auditInsertion(sql: Sql | Tx, drafts: readonly AuditDraft[], where: Fragment): Fragment {
  return sql`
    insert into audit_log (workspace_id, id, sequence, at, actor_kind, actor_id, actor_name, via, action, target_id,
      target_kind, target_name, diff, reason, address, request_id, previous_hash, hash)
    select a.workspace_id, a.id, 0, clock_now(), a.actor_kind, a.actor_id,
      coalesce((select k.name from api_keys k where k.id = a.actor_id), a.actor_name),
      a.via, a.action, a.target_id, a.target_kind, a.target_name, a.diff, a.reason, a.address, a.request_id, '', ''
    from unnest(
      ${drafts.map((draft) => draft.workspace_id)}::uuid[],
      ${drafts.map((draft) => draft.id)}::uuid[],
      ${drafts.map((draft) => draft.actor_kind)}::text[],
      ${drafts.map((draft) => (draft.actor_kind === 'system' ? null : draft.actor_id))}::uuid[],
      ${drafts.map((draft) => draft.actor_name)}::text[],
      ${drafts.map((draft) => draft.via)}::text[],
      ${drafts.map((draft) => draft.action)}::text[],
      ${drafts.map(({ target_id }) => (idKindOf(target_id) ? target_id : null))}::uuid[],
      ${drafts.map(({ target_id }) => idKindOf(target_id) ?? 'name')}::text[],
      ${drafts.map(({ target_id }) => (idKindOf(target_id) ? null : target_id))}::text[],
      ${drafts.map((draft) => draft.diff)}::text[],
      ${drafts.map((draft) => draft.reason)}::text[],
      ${drafts.map((draft) => draft.address)}::text[],
      ${drafts.map((draft) => draft.request_id)}::uuid[]
    ) with ordinality as a (workspace_id, id, actor_kind, actor_id, actor_name, via, action, target_id, target_kind,
      target_name, diff, reason, address, request_id, place)
    where ${where}
    order by a.workspace_id, a.place`;
}

export async function appendAudit(tx: Tx, drafts: readonly AuditDraft[]): Promise<void> {
  await tx`${auditInsertion(tx, drafts, tx`true`)}`;
}

export interface AuditRow extends AuditDraft {
  readonly sequence: number;
  readonly at: Date;
}

/** The index that provides the order of the page; other filters are applied row by row. */
export type AuditDriver = 'target_id' | 'actor_id' | 'action' | null;

export interface AuditFilter {
  readonly target_id: string | null;
  readonly actor_id: string | null;
  readonly actions: readonly string[] | null;
  readonly excluded_actions: readonly string[] | null;
}

/** The system has no id, so it is identified by its kind. */
const SYSTEM = 'system';
const actorId = (sql: Sql) => sql`coalesce(id_text(e.actor_id), e.actor_kind)`;
const targetId = (sql: Sql) => sql`coalesce(e.target_name, id_text(e.target_id, e.target_kind))`;

/** Returns the condition that entry `x` or `e` has this target: an id, or a name if the target has no id. */
function isTarget(sql: Sql, entry: Fragment, target: string): Fragment {
  return idKindOf(target) ? sql`${entry}.target_id = ${target}` : sql`${entry}.target_name = ${target}`;
}

function isActor(sql: Sql, entry: Fragment, actor: string): Fragment {
  return actor === SYSTEM ? sql`${entry}.actor_kind = ${SYSTEM}` : sql`${entry}.actor_id = ${actor}`;
}

function columns(sql: Sql): Fragment {
  return sql`e.workspace_id, e.id, e.sequence::float8 as sequence, e.at, e.actor_kind, ${actorId(sql)} as actor_id,
    e.actor_name, e.via, e.action, ${targetId(sql)} as target_id, e.diff, e.reason, e.address, e.request_id`;
}

/** Returns a page, newest first. Served by audit_log_target, audit_log_actor, audit_log_action or the primary key. */
export async function readAuditPage(
  sql: Sql,
  workspace_id: string,
  base: AuditDriver,
  filter: AuditFilter,
  range: IdRange,
  count: number,
  limit: number,
): Promise<Candidates<AuditRow>> {
  // No index covers system entries: the primary key finds them soon enough.
  const driver = base === 'actor_id' && filter.actor_id === SYSTEM ? null : base;
  const driven = {
    target_id: sql`and ${isTarget(sql, sql`x`, filter.target_id ?? '')}`,
    actor_id: sql`and x.actor_id = ${filter.actor_id}`,
    action: sql`and x.action = ${filter.actions?.[0] ?? null}`,
  };
  const rows = await sql<(Partial<AuditRow> & { examined: number; edge: string | null })[]>`
    with candidates as materialized (
      select x.* from audit_log x
      where ${driver === null ? sql`x.workspace_id = ${workspace_id}` : listOf(sql, sql`x.workspace_id`, workspace_id)}
        and ${within(sql, sql`x.id`, range)} ${driver === null ? sql`` : driven[driver]}
      order by x.id desc limit ${count}
    )
    select (select count(*)::int from candidates) as examined, (select min(id) from candidates) as edge, e.*
    from (values (1)) as always
    left join lateral (
      select ${columns(sql)} from candidates e
      where true
        ${filter.target_id === null ? sql`` : sql`and ${isTarget(sql, sql`e`, filter.target_id)}`}
        ${filter.actor_id === null ? sql`` : sql`and ${isActor(sql, sql`e`, filter.actor_id)}`}
        ${filter.actions === null ? sql`` : sql`and e.action = any (${[...filter.actions]}::text[])`}
        ${filter.excluded_actions === null ? sql`` : sql`and e.action <> all (${[...filter.excluded_actions]}::text[])`}
      order by e.id desc limit ${limit}
    ) e on true
    order by e.id desc`;
  return {
    examined: rows[0]?.examined ?? 0,
    edge: rows[0]?.edge ?? null,
    // The left join yields one row without an entry if there is none.
    rows: rows.filter((row): row is AuditRow & { examined: number; edge: string } => row.id != null),
  };
}

/** Returns entries by id. Served by the primary key, one chain at a time. */
export async function auditByIds(sql: Sql, chains: readonly string[], ids: readonly string[]): Promise<AuditRow[]> {
  return sql<AuditRow[]>`
    select ${columns(sql)} from audit_log e
    where e.workspace_id = any (${[...chains]}::uuid[]) and e.id = any (${[...ids]}::uuid[])`;
}

/** Returns entries oldest first. Served by the unique index of workspace and sequence. */
export async function auditBehind(sql: Sql, workspace_id: string, cursor: number, count: number): Promise<AuditRow[]> {
  return sql<AuditRow[]>`
    select ${columns(sql)} from audit_log e
    where e.workspace_id = ${workspace_id} and e.sequence > ${cursor} order by e.sequence limit ${count}`;
}

/** Returns the actors of an action on some targets, one row per target. Served by audit_log_target. */
export async function makersOf(
  sql: Sql,
  workspace_id: string,
  actions: readonly AuditAction[],
  target_ids: readonly string[],
): Promise<Pick<AuditRow, 'target_id' | 'actor_kind' | 'actor_id' | 'actor_name'>[]> {
  return sql<Pick<AuditRow, 'target_id' | 'actor_kind' | 'actor_id' | 'actor_name'>[]>`
    select ${targetId(sql)} as target_id, e.actor_kind, ${actorId(sql)} as actor_id, e.actor_name
    from unnest(${[...target_ids]}::uuid[]) as a (id)
    cross join lateral (
      select * from audit_log x
      where ${listOf(sql, sql`x.workspace_id`, workspace_id)} and x.target_id = a.id
        and x.action = any (${[...actions]}::text[])
      order by x.id limit 1
    ) e`;
}

/** The head of a chain; sequence 0 if it is empty. */
export interface AuditHead {
  readonly sequence: number;
  readonly hash: string;
}

export async function auditHead(sql: Sql, workspace_id: string): Promise<AuditHead> {
  const [row] = await sql<AuditHead[]>`
    select sequence::float8 as sequence, encode(hash, 'hex') as hash from audit_heads where workspace_id = ${workspace_id}`;
  return row ?? { sequence: 0, hash: '' };
}

export interface LinkRow {
  readonly id: string;
  readonly sequence: number;
  /** Whether the stored hash matches the contents. */
  readonly whole: boolean;
  /** Whether the entry refers to the hash of the previous one. */
  readonly follows: boolean;
  readonly hash: string;
}

/** Returns a page of a chain after a sequence. Served by the unique index of workspace and sequence. */
export async function linksOf(sql: Sql, workspace_id: string, after: number, count: number): Promise<LinkRow[]> {
  return sql<LinkRow[]>`
    select * from (
      select e.id, e.sequence::float8 as sequence, e.hash = audit_hash(e) as whole,
        e.previous_hash = coalesce(lag(e.hash) over (order by e.sequence), '') as follows, encode(e.hash, 'hex') as hash
      from audit_log e
      where e.workspace_id = ${workspace_id} and e.sequence >= ${after} and e.sequence <= ${after + count}
    ) links
    where sequence > ${after} order by sequence`;
}
