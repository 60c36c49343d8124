import { type Fragment, idKindOf, type Sql, type Tx } from '@postrider/db';
import { keyStatusIn } from '../api-keys/index.ts';
import type { KeyActor } from '../operation/context.ts';
import type { Reason } from '../operation/errors.ts';
import type { WorkspaceRole } from '../people/index.ts';
import type { BulkAction } from './command.ts';
import type { BulkOutcome, Receipt } from './plans/plan.ts';

export const bulkStatuses = ['queued', 'running', 'completed', 'canceled'] as const;
export type BulkStatus = (typeof bulkStatuses)[number];

export interface BulkRow {
  readonly id: string;
  readonly workspace_id: string;
  readonly action: BulkAction;
  readonly filter: string;
  readonly cutoff_at: Date;
  readonly matched: number;
  readonly matched_exact: boolean;
  readonly reason: string;
  readonly rate_per_second: number;
  readonly actor: string;
  readonly actor_name: string;
  readonly status: BulkStatus;
  readonly done: number;
  readonly failed: number;
  readonly skipped: number;
  readonly truncated: boolean;
  readonly created_at: Date;
  readonly started_at: Date | null;
  readonly finished_at: Date | null;
}

function columns(sql: Sql | Tx): Fragment {
  return sql`b.id, b.workspace_id, b.action, b.filter, b.cutoff_at, b.matched, b.matched_exact, b.reason,
    b.rate_per_second, b.actor, b.actor_name, b.status, b.done, b.failed, b.skipped, b.truncated, b.created_at,
    b.started_at, b.finished_at`;
}

export type NewBulk = Pick<
  BulkRow,
  | 'id'
  | 'workspace_id'
  | 'action'
  | 'filter'
  | 'cutoff_at'
  | 'matched'
  | 'matched_exact'
  | 'reason'
  | 'rate_per_second'
  | 'actor'
  | 'actor_name'
> & { readonly actor_id: string };

/** Serializes starts in one workspace, so that a count read afterwards stays valid until the commit. */
export async function lockStarts(tx: Tx, workspace_id: string): Promise<void> {
  await tx`select pg_advisory_xact_lock(hashtextextended(${`bulk operations of ${workspace_id}`}, 0))`;
}

/** Counts the open operations of a workspace. Served by bulk_operations_open_of. */
export async function countOpen(tx: Tx, workspace_id: string): Promise<number> {
  const [row] = await tx<{ count: number }[]>`
    select count(*)::int as count from bulk_operations b
    where b.workspace_id = ${workspace_id} and b.status in ('queued', 'running')`;
  return row?.count ?? 0;
}

/** Claims one of the two slots of a workspace until the commit; returns false if both are in use. */
export async function takeSeat(tx: Tx, workspace_id: string): Promise<boolean> {
  const seat = (number: number) =>
    tx`pg_try_advisory_xact_lock(hashtextextended(${`bulk seat ${number} of ${workspace_id}`}, 0))`;
  const [row] = await tx<{ taken: boolean }[]>`select case when ${seat(1)} then true else ${seat(2)} end as taken`;
  return row?.taken ?? false;
}

/** Stores a new bulk operation; returns null if it was already started. */
export async function insertBulk(tx: Tx, bulk: NewBulk): Promise<BulkRow | null> {
  const [row] = await tx<BulkRow[]>`
    insert into bulk_operations as b (id, workspace_id, action, filter, cutoff_at, matched, matched_exact, reason,
      rate_per_second, actor, actor_name, status, next_at, created_at)
    values (${bulk.id}, ${bulk.workspace_id}, ${bulk.action}, ${bulk.filter}, ${bulk.cutoff_at}, ${bulk.matched},
      ${bulk.matched_exact}, ${bulk.reason}, ${bulk.rate_per_second}, ${bulk.actor},
      coalesce((select k.name from api_keys k where k.id = ${bulk.actor_id}), ${bulk.actor_name}), 'queued',
      clock_now(), clock_now())
    on conflict (id) do nothing
    returning ${columns(tx)}`;
  return row ?? null;
}

export async function bulkById(sql: Sql | Tx, id: string): Promise<BulkRow | null> {
  const [row] = await sql<BulkRow[]>`select ${columns(sql)} from bulk_operations b where b.id = ${id}`;
  return row ?? null;
}

export async function bulksByIds(sql: Sql, ids: readonly string[]): Promise<BulkRow[]> {
  return sql<BulkRow[]>`select ${columns(sql)} from bulk_operations b where b.id = any (${ids}::uuid[])`;
}

/** Returns a page across some workspaces, newest first. Served by bulk_operations_newest. */
export async function readBulkPage(
  sql: Sql,
  workspace_ids: readonly string[],
  cursor: string | null,
  count: number,
): Promise<BulkRow[]> {
  return sql<BulkRow[]>`
    select page.* from unnest(${workspace_ids}::uuid[]) as w (id)
    cross join lateral (
      select ${columns(sql)} from bulk_operations b
      where b.workspace_id = w.id and ${cursor === null ? sql`true` : sql`b.id < ${cursor}`} order by b.id desc limit ${count}
    ) page
    order by page.id desc limit ${count}`;
}

export interface LockedBulk extends BulkRow {
  readonly position: string | null;
  readonly turn: number;
  /** Time until the rate allows more; 0 if it does now. */
  readonly wait_ms: number;
}

/** Locks the row of an operation, as run, cancel and take-over all do. */
export async function lockBulk(tx: Tx, id: string): Promise<LockedBulk | null> {
  const [row] = await tx<LockedBulk[]>`
    select ${columns(tx)}, b.position, b.turn,
      greatest(0, extract(epoch from b.next_at - clock_now()) * 1000)::float8 as wait_ms
    from bulk_operations b where b.id = ${id} for update`;
  return row ?? null;
}

/** Returns the permissions of a key, locked until the commit; null if it is revoked, expired or deleted. */
export async function heldKey(
  tx: Tx,
  workspace_id: string,
  key_id: string,
): Promise<Pick<KeyActor, 'scopes' | 'mode' | 'domains'> | null> {
  const [row] = await tx<Pick<KeyActor, 'scopes' | 'mode' | 'domains'>[]>`
    select k.scopes, k.mode, k.domains from api_keys k
    where k.workspace_id = ${workspace_id} and k.id = ${key_id} and ${keyStatusIn(tx)} = 'active'
    for share`;
  return row ?? null;
}

/** Returns the role of a user in a workspace, locked until the commit; null if the user was deleted. */
export async function heldPerson(
  tx: Tx,
  workspace_id: string,
  user_id: string,
): Promise<{ readonly operator: boolean; readonly role: WorkspaceRole | null } | null> {
  const [member] = await tx<{ role: WorkspaceRole }[]>`
    select m.role from members m where m.workspace_id = ${workspace_id} and m.user_id = ${user_id} for share`;
  const [user] = await tx<{ operator: boolean }[]>`select u.operator from users u where u.id = ${user_id} for share`;
  return user ? { operator: user.operator, role: member?.role ?? null } : null;
}

export interface Progress {
  readonly id: string;
  readonly position: string | null;
  readonly outcomes: Readonly<Record<BulkOutcome, number>>;
  readonly ended: boolean;
  readonly truncated: boolean;
}

/**
 * Records progress after a slice and returns when the next one is due. The rate counts from the previous slice, or from
 * now after a gap: lost time is not made up for.
 */
export async function recordProgress(tx: Tx, progress: Progress): Promise<number> {
  const { outcomes } = progress;
  const count = outcomes.done + outcomes.failed + outcomes.skipped;
  const [row] = await tx<{ wait_ms: number }[]>`
    update bulk_operations b set
      status = case when ${progress.ended} then 'completed' else 'running' end,
      position = coalesce(${progress.position}, b.position),
      done = b.done + ${outcomes.done}::int,
      failed = b.failed + ${outcomes.failed}::int,
      skipped = b.skipped + ${outcomes.skipped}::int,
      truncated = ${progress.truncated},
      next_at = greatest(b.next_at, clock_now()) + make_interval(secs => ${count}::float8 / b.rate_per_second),
      started_at = coalesce(b.started_at, clock_now()),
      finished_at = case when ${progress.ended} then clock_now() end
    where b.id = ${progress.id}
    returning greatest(0, extract(epoch from b.next_at - clock_now()) * 1000)::float8 as wait_ms`;
  return row?.wait_ms ?? 0;
}

/**
 * Hands an operation to the next job; after this commit, the previous job may not continue. Returns when that job is
 * due: when the rate allows more, and no sooner than the given delay.
 */
export async function passTurn(
  tx: Tx,
  id: string,
  wait_ms = 0,
): Promise<{ readonly turn: number; readonly start_after: Date }> {
  const [row] = await tx<{ turn: number; start_after: Date }[]>`
    update bulk_operations b set turn = b.turn + 1 where b.id = ${id}
    returning b.turn, greatest(b.next_at, clock_now() + make_interval(secs => ${wait_ms / 1000}::float8)) as start_after`;
  if (!row) throw new Error('a locked bulk operation no longer exists');
  return row;
}

/** Returns open operations without progress for a while. Served by bulk_operations_open. */
export async function openBulks(sql: Sql, idle_seconds: number): Promise<string[]> {
  const rows = await sql<{ id: string }[]>`
    select b.id from bulk_operations b
    where b.status in ('queued', 'running') and b.next_at < clock_now() - make_interval(secs => ${idle_seconds})
    order by b.next_at limit 1000`;
  return rows.map((row) => row.id);
}

export async function markCanceled(tx: Tx, id: string): Promise<BulkRow> {
  const [row] = await tx<BulkRow[]>`
    update bulk_operations b set status = 'canceled', finished_at = clock_now() where b.id = ${id}
    returning ${columns(tx)}`;
  if (!row) throw new Error('a locked bulk operation no longer exists');
  return row;
}

export async function insertItems(tx: Tx, bulk_id: string, after: number, receipts: readonly Receipt[]): Promise<void> {
  if (receipts.length === 0) return;
  await tx`
    insert into bulk_items (bulk_id, place, item_kind, item_id, outcome, reason, line, at)
    select ${bulk_id}::uuid, ${after}::int + a.place::int, a.item_kind, a.item_id, a.outcome, a.reason, a.line, clock_now()
    from unnest(
      ${receipts.map((receipt) => idKindOf(receipt.item_id))}::text[],
      ${receipts.map((receipt) => receipt.item_id)}::uuid[],
      ${receipts.map((receipt) => receipt.outcome)}::text[],
      ${receipts.map((receipt) => receipt.reason)}::text[],
      ${receipts.map((receipt) => receipt.line ?? null)}::text[]
    ) with ordinality as a (item_kind, item_id, outcome, reason, line, place)`;
}

export interface ItemRow {
  readonly place: number;
  readonly item_id: string;
  readonly outcome: BulkOutcome;
  readonly reason: Reason | null;
  readonly at: Date;
}

/** Returns a page after a position, in the order the items were processed. */
export async function readItemPage(
  sql: Sql,
  bulk_id: string,
  outcome: BulkOutcome | null,
  cursor: number,
  count: number,
): Promise<ItemRow[]> {
  const outcome_filter = outcome === null ? sql`` : sql`and i.outcome = ${outcome}`;
  // The planner uses bulk_items_undone only if the statement itself excludes done items.
  const undone = outcome === null || outcome === 'done' ? sql`` : sql`and i.outcome <> 'done'`;
  return sql<ItemRow[]>`
    select i.place, id_text(i.item_id, i.item_kind) as item_id, i.outcome, i.reason, i.at from bulk_items i
    where i.bulk_id = ${bulk_id} and i.place > ${cursor} ${outcome_filter} ${undone}
    order by i.place limit ${count}`;
}

/** Returns the first failed items of some operations. Served by bulk_items_undone. */
export async function failuresOf(
  sql: Sql,
  bulk_ids: readonly string[],
  count: number,
): Promise<(ItemRow & { readonly bulk_id: string })[]> {
  return sql<(ItemRow & { bulk_id: string })[]>`
    select b.id as bulk_id, f.* from unnest(${bulk_ids}::uuid[]) as b (id)
    cross join lateral (
      select i.place, id_text(i.item_id, i.item_kind) as item_id, i.outcome, i.reason, i.at from bulk_items i
      where i.bulk_id = b.id and i.outcome = 'failed' and i.outcome <> 'done' order by i.place limit ${count}
    ) f
    order by b.id, f.place`;
}

/** Returns the lines of an export after a position. */
export async function readLinePage(
  sql: Sql,
  bulk_id: string,
  cursor: number,
  count: number,
): Promise<{ readonly place: number; readonly line: string }[]> {
  return sql<{ place: number; line: string }[]>`
    select i.place, i.line from bulk_items i
    where i.bulk_id = ${bulk_id} and i.place > ${cursor} and i.line is not null
    order by i.place limit ${count}`;
}

/**
 * Deletes the receipts of operations that began before a time; returns the count. Served by the primary key, or for
 * lines only by bulk_items_lines.
 */
export async function dropItems(sql: Sql, before_id: string, lines_only: boolean, count: number): Promise<number> {
  const rows = await sql`
    delete from bulk_items i where i.ctid = any (array(
      select x.ctid from bulk_items x
      where x.bulk_id < ${before_id} ${lines_only ? sql`and x.line is not null` : sql``} limit ${count}
    ))
    returning i.place`;
  return rows.length;
}
