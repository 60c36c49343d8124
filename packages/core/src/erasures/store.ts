import type { Sql, Tx } from '@postrider/db';

export interface ErasureRow {
  readonly id: string;
  readonly workspace_id: string;
  readonly status: 'queued' | 'running' | 'completed';
  /** Null once the erasure is complete. */
  readonly email: string | null;
  readonly counts: string;
  readonly created_at: Date;
  readonly finished_at: Date | null;
}

export async function insertErasure(
  tx: Tx,
  { id, workspace_id, email }: Pick<ErasureRow, 'id' | 'workspace_id' | 'email'>,
): Promise<ErasureRow | null> {
  const [row] = await tx<ErasureRow[]>`
    insert into erasures (id, workspace_id, status, email, created_at)
    values (${id}, ${workspace_id}, 'queued', ${email}, clock_now())
    returning id, workspace_id, status, email, counts, created_at, finished_at`;
  return row ?? null;
}

export async function erasureById(sql: Sql, workspace_id: string, id: string): Promise<ErasureRow | null> {
  const [row] = await sql<ErasureRow[]>`
    select id, workspace_id, status, email, counts, created_at, finished_at from erasures
    where id = ${id} and workspace_id = ${workspace_id}`;
  return row ?? null;
}

/** Returns a page, newest first. Served by the primary key, since there are few rows. */
export async function readErasurePage(
  sql: Sql,
  workspace_id: string,
  cursor: string | null,
  count: number,
): Promise<ErasureRow[]> {
  return sql<ErasureRow[]>`
    select id, workspace_id, status, email, counts, created_at, finished_at from erasures
    where workspace_id = ${workspace_id} and (${cursor}::text is null or id < ${cursor}) order by id desc limit ${count}`;
}

/** Returns the open erasures of a workspace. Served by erasures_open. */
export async function openErasures(sql: Sql | Tx, workspace_id: string): Promise<(ErasureRow & { email: string })[]> {
  return sql<(ErasureRow & { email: string })[]>`
    select id, workspace_id, status, email, counts, created_at, finished_at from erasures
    where workspace_id = ${workspace_id} and status <> 'completed' order by id`;
}

/** Restarts an open erasure, so that it also reaches data stored since it began. */
export async function restartErasure(tx: Tx, id: string): Promise<ErasureRow | null> {
  const [row] = await tx<ErasureRow[]>`
    update erasures set step = null, position = null where id = ${id} and status <> 'completed'
    returning id, workspace_id, status, email, counts, created_at, finished_at`;
  return row ?? null;
}

export interface OpenErasure extends ErasureRow {
  readonly email: string;
  readonly step: string | null;
  readonly position: string | null;
}

/** Marks an erasure as running; returns null if it is already complete. */
export async function beginErasure(tx: Tx, id: string): Promise<OpenErasure | null> {
  const [row] = await tx<OpenErasure[]>`
    update erasures set status = 'running' where id = ${id} and status <> 'completed'
    returning id, workspace_id, status, email, counts, step, position, created_at, finished_at`;
  return row ?? null;
}

export async function isOpen(sql: Sql, id: string): Promise<boolean> {
  const rows = await sql`select from erasures where id = ${id} and status <> 'completed'`;
  return rows.length > 0;
}

/** Records progress in the transaction of the counted changes, so that a repeated slice counts nothing twice. */
export async function noteProgress(
  tx: Tx,
  { id, step, position, counts }: Pick<OpenErasure, 'id' | 'step' | 'position' | 'counts'>,
): Promise<void> {
  await tx`update erasures set step = ${step}, position = ${position}, counts = ${counts} where id = ${id}`;
}

/** Deletes the address; the receipt stays. */
export async function endErasure(tx: Tx, id: string): Promise<void> {
  await tx`
    update erasures set status = 'completed', email = null, finished_at = clock_now()
    where id = ${id} and status <> 'completed'`;
}
