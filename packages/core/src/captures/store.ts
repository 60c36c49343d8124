import type { Sql, Tx } from '@postrider/db';
import { type CandidateRow, type Candidates, candidatesOf, type IdRange } from '../paging/candidate-pages.ts';

export interface NewCapture {
  readonly id: string;
  readonly envelope_from: string;
  readonly envelope_to: readonly string[];
  readonly subject: string;
  /** The id of our message; null if another program sent it. */
  readonly message_id: string | null;
  readonly raw: Buffer;
  /** The workspace of the key that the sender logged in with; null if there was no login. */
  readonly workspace_id: string | null;
}

/**
 * Stores a captured message in the workspace of the sender's key. Without a login, the workspace is that of the
 * message, or the oldest one if another program sent the message.
 */
export async function insertCapture(sql: Sql, capture: NewCapture): Promise<void> {
  await sql`
    insert into captures (workspace_id, id, envelope_from, envelope_to, subject, message_id, raw, size_bytes, received_at)
    select w.id, ${capture.id}, ${capture.envelope_from}, ${[...capture.envelope_to]}::text[], ${capture.subject},
      ${capture.message_id}, ${capture.raw}, ${capture.raw.length}, clock_now()
    from workspaces w
    where ${capture.workspace_id}::uuid is null or w.id = ${capture.workspace_id}
    order by exists (select from messages m where m.workspace_id = w.id and m.id = ${capture.message_id}) desc, w.id
    limit 1`;
}

export interface CaptureRow {
  id: string;
  workspace_id: string;
  envelope_from: string;
  /** The From address of email sent through Postrider; otherwise the envelope sender. */
  sender: string;
  envelope_to: string[];
  subject: string;
  message_id: string | null;
  received_at: Date;
}

/** Deletes captures past their retention, and each workspace's oldest ones above its quota or the limit of its plan. */
export async function trimCaptures(
  sql: Sql | Tx,
  limits: { readonly seconds: number; readonly bytes_per_workspace: number },
): Promise<void> {
  await sql`delete from captures where id < id_floor(clock_now() - make_interval(secs => ${limits.seconds}))`;
  await sql`
    delete from captures c using (
      select workspace_id, id, sum(size_bytes) over (partition by workspace_id order by id desc) as bytes from captures
    ) s join workspaces w on w.id = s.workspace_id join plans p on p.name = w.plan
    where c.workspace_id = s.workspace_id and c.id = s.id
      and s.bytes > least(${limits.bytes_per_workspace}::bigint, p.capture_bytes_limit)`;
}

/**
 * Drops each day that has no captures left. Must run in a separate transaction, because two processes that had both
 * deleted rows of the table would deadlock.
 */
export async function dropCaptureDays(sql: Sql | Tx): Promise<void> {
  await sql`
    select drop_partition('captures', c.relname)
    from pg_inherits i join pg_class c on c.oid = i.inhrelid
    where i.inhparent = 'captures'::regclass
      -- ensure_partitions would make yesterday again.
      and c.relname < partition_name('captures', 'day', date_trunc('day', clock_now() - interval '1 day', 'UTC'))
      and c.relname ~ '_[0-9]{8}$'`;
}

export interface CaptureFilter {
  /** Substrings of addresses or of the subject, in lower case; null means not filtered. */
  readonly to: string | null;
  readonly from: string | null;
  readonly subject: string | null;
  /** Excludes captures of live messages. */
  readonly sandbox_only: boolean;
}

export type ListedCapture = CaptureRow & { readonly size_bytes: number };

/** Scans up to `count` captures in primary-key order, newest first, and returns up to `limit` that match. */
export async function capturesAmong(
  sql: Sql,
  workspace_id: string,
  { to, from, subject, sandbox_only }: CaptureFilter,
  range: IdRange,
  count: number,
  limit: number,
): Promise<Candidates<ListedCapture>> {
  const rows = await sql<CandidateRow<ListedCapture>[]>`
    with candidates as materialized (
      select c.id, c.workspace_id, c.envelope_from, ${sender(sql)} as sender, c.envelope_to, c.subject, c.message_id,
        c.received_at, c.size_bytes
      from captures c
      where c.workspace_id = ${workspace_id} and c.id >= ${range.from} and c.id < ${range.before}
      order by c.id desc limit ${count}
    )
    select (select count(*)::int from candidates) as examined, (select min(id) from candidates) as edge, f.*
    from (values (1)) as always
    left join lateral (
      select * from candidates c
      where (${to}::text is null or exists (select from unnest(c.envelope_to) t (email) where position(${to} in lower(t.email)) > 0))
        and (${from}::text is null or position(${from} in lower(c.envelope_from)) > 0
          or position(${from} in lower(c.sender)) > 0)
        and (${subject}::text is null or position(${subject} in lower(c.subject)) > 0)
        and ${sandbox_only ? ofSandbox(sql) : sql`true`}
      order by c.id desc limit ${limit}
    ) f on true
    order by f.id desc`;
  return candidatesOf<ListedCapture>(rows);
}

/**
 * Returns SQL for the sender of capture c: the From address of our own messages, whose return address only a program
 * can read, otherwise the envelope sender. Served by the primary key.
 */
const sender = (sql: Sql | Tx) => sql`
  coalesce((
    select m.from_address from messages m where m.workspace_id = c.workspace_id and m.id = c.message_id
  ), c.envelope_from)`;

/** Returns the condition that capture c is of a sandbox message, or was sent by another program. */
const ofSandbox = (sql: Sql | Tx) => sql`
  (c.message_id is null or exists (
    select from messages m where m.workspace_id = c.workspace_id and m.id = c.message_id and m.mode = 'sandbox'))`;

export async function captureOf(
  sql: Sql | Tx,
  workspace_id: string,
  id: string,
  sandbox_only: boolean,
): Promise<(ListedCapture & { readonly raw: Buffer }) | null> {
  const [row] = await sql<(ListedCapture & { raw: Buffer })[]>`
    select c.id, c.workspace_id, c.envelope_from, ${sender(sql)} as sender, c.envelope_to, c.subject, c.message_id,
      c.received_at, c.size_bytes, c.raw
    from captures c
    where c.workspace_id = ${workspace_id} and c.id = ${id} and ${sandbox_only ? ofSandbox(sql) : sql`true`}`;
  return row ?? null;
}

/** Deletes all captures of a workspace, or a single one; returns the count. */
export async function deleteCaptureRows(
  sql: Sql | Tx,
  workspace_id: string,
  id: string | null,
  sandbox_only: boolean,
): Promise<number> {
  const rows = await sql`
    delete from captures c
    where c.workspace_id = ${workspace_id} and (${id}::uuid is null or c.id = ${id})
      and ${sandbox_only ? ofSandbox(sql) : sql`true`}
    returning c.id`;
  return rows.length;
}
