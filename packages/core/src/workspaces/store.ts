import type { Fragment, Sql, Tx } from '@postrider/db';
import type { UnknownPolicy } from '../delivery/index.ts';
import { type PlanRow, planColumns } from './plan-store.ts';

/** Serializes processes that start concurrently. The number is arbitrary and used nowhere else. */
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

/** A workspace with its plan; `name` is the plan's. */
export interface WorkspaceRow extends PlanRow {
  readonly id: string;
  readonly workspace_name: string;
  readonly unknown_policy: UnknownPolicy;
  readonly created_at: Date;
}

function columns(sql: Sql | Tx): Fragment {
  return sql`w.id, w.name as workspace_name, w.unknown_policy, w.created_at, ${planColumns(sql)}
    from workspaces w join plans p on p.name = w.plan`;
}

export async function workspaceById(sql: Sql | Tx, id: string): Promise<WorkspaceRow | null> {
  const [row] = await sql<WorkspaceRow[]>`select ${columns(sql)} where w.id = ${id}`;
  return row ?? null;
}

export async function workspacesByIds(sql: Sql, ids: readonly string[]): Promise<WorkspaceRow[]> {
  return sql<WorkspaceRow[]>`select ${columns(sql)} where w.id = any (${[...ids]}::uuid[])`;
}

/** Locks a workspace until the commit. */
export async function lockWorkspaceRow(tx: Tx, id: string): Promise<WorkspaceRow | null> {
  const [row] = await tx<WorkspaceRow[]>`select ${columns(tx)} where w.id = ${id} for no key update of w`;
  return row ?? null;
}

/** Returns workspaces newest first. Served by the primary key. */
export async function readWorkspacePage(sql: Sql, cursor: string | null, count: number): Promise<WorkspaceRow[]> {
  return sql<WorkspaceRow[]>`
    select ${columns(sql)} where ${cursor}::text is null or w.id < ${cursor} order by w.id desc limit ${count}`;
}

export async function storeWorkspace(
  tx: Tx,
  { id, name, unknown_policy }: { readonly id: string; readonly name: string; readonly unknown_policy: UnknownPolicy },
): Promise<void> {
  await tx`update workspaces set name = ${name}, unknown_policy = ${unknown_policy} where id = ${id}`;
}

export async function storePlanOf(tx: Tx, id: string, plan: string): Promise<void> {
  await tx`update workspaces set plan = ${plan} where id = ${id}`;
}
