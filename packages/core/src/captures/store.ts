import type { Sql, Tx } from '@postrider/db';

export interface NewCapture {
  readonly id: string;
  readonly envelope_from: string;
  readonly envelope_to: readonly string[];
  readonly subject: string;
  /** The id of our message; null if another program sent it. */
  readonly message_id: string | null;
  readonly raw: Buffer;
}

/** Stores a mail in the workspace of its message, or in the oldest if another program sent it. */
export async function insertCapture(sql: Sql, capture: NewCapture): Promise<void> {
  await sql`
    insert into captures (workspace_id, id, envelope_from, envelope_to, subject, message_id, raw, bytes, received_at)
    select w.id, ${capture.id}, ${capture.envelope_from}, ${[...capture.envelope_to]}::text[], ${capture.subject},
      ${capture.message_id}, ${capture.raw}, ${capture.raw.length}::int, clock_now()
    from workspaces w
    order by exists (select from messages m where m.workspace_id = w.id and m.id = ${capture.message_id}) desc, w.id
    limit 1`;
}

export interface CaptureRow {
  id: string;
  workspace_id: string;
  envelope_from: string;
  envelope_to: string[];
  subject: string;
  message_id: string | null;
  received_at: Date;
}

/** The newest captured mails of all workspaces, for the operators' page. */
export async function newestCaptures(sql: Sql, count: number): Promise<CaptureRow[]> {
  return sql<CaptureRow[]>`
    select id, workspace_id, envelope_from, envelope_to, subject, message_id, received_at
    from captures order by id desc limit ${count}`;
}

export async function captureById(sql: Sql | Tx, id: string): Promise<(CaptureRow & { raw: Buffer }) | null> {
  const [row] = await sql<(CaptureRow & { raw: Buffer })[]>`
    select id, workspace_id, envelope_from, envelope_to, subject, message_id, received_at, raw
    from captures where id = ${id}`;
  return row ?? null;
}

/** Keeps only the newest mails, the capture is not an archive, and drops the days of which none is left. */
export async function trimCaptures(sql: Sql | Tx, keep: number): Promise<void> {
  await sql`delete from captures where id < (select id from captures order by id desc offset ${keep} limit 1)`;
  await sql`
    select drop_partition('captures', c.relname)
    from pg_inherits i join pg_class c on c.oid = i.inhrelid
    where i.inhparent = 'captures'::regclass
      -- ensure_partitions would make yesterday again.
      and c.relname < partition_name('captures', 'day', date_trunc('day', clock_now() - interval '1 day', 'UTC'))
      and c.relname ~ '_[0-9]{8}$'`;
}
