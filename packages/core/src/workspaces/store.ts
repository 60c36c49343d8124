import type { Sql, Tx } from '@postrider/db';

/** Two processes that start together take turns. The number is arbitrary and used nowhere else. */
export async function takeProvisioningTurn(tx: Tx): Promise<void> {
  await tx`select pg_advisory_xact_lock(7761001)`;
}

export async function oldestWorkspace(sql: Sql | Tx): Promise<string | null> {
  const [row] = await sql<{ id: string }[]>`select id from workspaces order by id limit 1`;
  return row?.id ?? null;
}

export async function insertWorkspace(tx: Tx, workspace: { id: string; name: string; plan: string }): Promise<void> {
  await tx`
    insert into workspaces (id, name, plan, created_at)
    values (${workspace.id}, ${workspace.name}, ${workspace.plan}, clock_now())`;
}
