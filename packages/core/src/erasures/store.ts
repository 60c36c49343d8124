import type { Sql, Tx } from '@postrider/db';

export interface ErasureRow {
  readonly id: string;
  readonly workspace_id: string;
  readonly status: 'queued' | 'running' | 'completed';
  /** Null once it is completed. */
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

/** Newest first. Served by the primary key: there are few of them. */
export async function pageOfErasures(
  sql: Sql,
  workspace_id: string,
  behind: string | null,
  count: number,
): Promise<ErasureRow[]> {
  return sql<ErasureRow[]>`
    select id, workspace_id, status, email, counts, created_at, finished_at from erasures
    where workspace_id = ${workspace_id} and (${behind}::text is null or id < ${behind}) order by id desc limit ${count}`;
}

/** Marks an erasure as running; null where it has ended. */
export async function beginErasure(sql: Sql, id: string): Promise<(ErasureRow & { readonly email: string }) | null> {
  const [row] = await sql<(ErasureRow & { email: string })[]>`
    update erasures set status = 'running' where id = ${id} and status <> 'completed'
    returning id, workspace_id, status, email, counts, created_at, finished_at`;
  return row ?? null;
}

/** In the transaction of what was counted, so that a run that is begun again counts nothing twice. */
export async function noteCounts(tx: Tx | Sql, id: string, counts: string): Promise<void> {
  await tx`update erasures set counts = ${counts} where id = ${id}`;
}

/** Forgets the address; the receipt stays. */
export async function endErasure(tx: Tx, id: string): Promise<void> {
  await tx`
    update erasures set status = 'completed', email = null, finished_at = clock_now()
    where id = ${id} and status <> 'completed'`;
  // Processes may have cached that the address was suppressed.
  await tx`update accept_epoch set value = value + 1 + (random() * 16777216)::bigint`;
}
