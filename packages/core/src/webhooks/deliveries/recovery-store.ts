import type { Sql, Tx } from '@postrider/db';

export interface Recovery {
  readonly workspace_id: string;
  readonly webhook_id: string;
  readonly since: string;
  readonly until: string;
}

/** Opens a recovery; returns false if the endpoint already has an open one. */
export async function insertRecovery(tx: Tx | Sql, recovery: Recovery): Promise<boolean> {
  const rows = await tx`
    insert into webhook_recoveries (webhook_id, workspace_id, since, until, created_at)
    values (${recovery.webhook_id}, ${recovery.workspace_id}, ${new Date(recovery.since)}, ${new Date(recovery.until)}, clock_now())
    on conflict (webhook_id) do nothing returning true as inserted`;
  return rows.length > 0;
}

/**
 * Returns whether the endpoint's open recovery is the given one, another one, or absent. Uses a single query, because
 * an open recovery may finish at any time.
 */
export async function findOpenRecovery(
  sql: Sql,
  { webhook_id, since, until }: Recovery,
): Promise<'this' | 'another' | 'none'> {
  const [row] = await sql<{ is_this: boolean }[]>`
    select since = ${new Date(since)} and until = ${new Date(until)} as is_this
    from webhook_recoveries where webhook_id = ${webhook_id}`;
  if (!row) return 'none';
  return row.is_this ? 'this' : 'another';
}

export interface OpenRecovery {
  readonly since: Date;
  readonly until: Date;
  readonly position: string | null;
  /** A disabled or deleted endpoint gets no deliveries. */
  readonly enabled: boolean;
}

export async function openRecovery(tx: Tx, webhook_id: string): Promise<OpenRecovery | null> {
  const [row] = await tx<OpenRecovery[]>`
    select r.since, r.until, r.position,
      exists (select from webhooks w where w.id = r.webhook_id and w.status = 'enabled') as enabled
    from webhook_recoveries r where r.webhook_id = ${webhook_id}`;
  return row ?? null;
}

export async function noteRecovered(tx: Tx, webhook_id: string, position: string): Promise<void> {
  await tx`update webhook_recoveries set position = ${position} where webhook_id = ${webhook_id}`;
}

export async function deleteRecovery(tx: Tx, webhook_id: string): Promise<void> {
  await tx`delete from webhook_recoveries where webhook_id = ${webhook_id}`;
}
