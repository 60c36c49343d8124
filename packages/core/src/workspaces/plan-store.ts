import type { Fragment, Sql, Tx } from '@postrider/db';

export interface PlanRow {
  readonly name: string;
  readonly monthly_emails: number | null;
  readonly recipients_per_request: number;
  readonly send_per_minute: number;
  readonly logs_per_minute: number;
  readonly default_per_minute: number;
  readonly sandbox_logs_per_minute: number;
  readonly sandbox_default_per_minute: number;
  readonly workspace_rate: number | null;
  readonly api_key_limit: number | null;
  readonly domain_limit: number | null;
  readonly webhook_limit: number | null;
  readonly member_limit: number | null;
  readonly transport_limit: number | null;
  readonly capture_bytes_limit: number | null;
}

/** Selects the columns of plan p. */
export function planColumns(sql: Sql | Tx): Fragment {
  return sql`p.name, p.monthly_limit::float8 as monthly_emails, p.recipient_cap as recipients_per_request,
    p.send_per_minute, p.logs_per_minute, p.default_per_minute, p.sandbox_logs_per_minute, p.sandbox_default_per_minute,
    p.workspace_rate, p.key_limit as api_key_limit, p.domain_limit, p.webhook_limit, p.member_limit, p.transport_limit, p.capture_bytes_limit::float8 as capture_bytes_limit`;
}

export async function allPlans(sql: Sql): Promise<PlanRow[]> {
  return sql<PlanRow[]>`select ${planColumns(sql)} from plans p order by p.name`;
}

/** Stores a plan; returns null if the name is taken. */
export async function insertPlan(tx: Tx, plan: PlanRow): Promise<PlanRow | null> {
  const [row] = await tx<PlanRow[]>`
    insert into plans as p (name, monthly_limit, recipient_cap, send_per_minute, logs_per_minute, default_per_minute,
      sandbox_logs_per_minute, sandbox_default_per_minute, workspace_rate, key_limit, domain_limit, webhook_limit, member_limit, transport_limit, capture_bytes_limit)
    values (${plan.name}, ${plan.monthly_emails}, ${plan.recipients_per_request}, ${plan.send_per_minute},
      ${plan.logs_per_minute}, ${plan.default_per_minute}, ${plan.sandbox_logs_per_minute},
      ${plan.sandbox_default_per_minute}, ${plan.workspace_rate}, ${plan.api_key_limit}, ${plan.domain_limit}, ${plan.webhook_limit}, ${plan.member_limit}, ${plan.transport_limit}, ${plan.capture_bytes_limit})
    on conflict (name) do nothing
    returning ${planColumns(tx)}`;
  return row ?? null;
}

/** Locks a plan until the commit, so that no workspace can be put on it in the meantime. */
export async function lockPlan(tx: Tx, name: string): Promise<PlanRow | null> {
  const [row] = await tx<PlanRow[]>`select ${planColumns(tx)} from plans p where p.name = ${name} for update`;
  return row ?? null;
}

export async function storePlan(tx: Tx, plan: PlanRow): Promise<void> {
  await tx`
    update plans set monthly_limit = ${plan.monthly_emails}, recipient_cap = ${plan.recipients_per_request},
      send_per_minute = ${plan.send_per_minute}, logs_per_minute = ${plan.logs_per_minute},
      default_per_minute = ${plan.default_per_minute}, sandbox_logs_per_minute = ${plan.sandbox_logs_per_minute},
      sandbox_default_per_minute = ${plan.sandbox_default_per_minute}, workspace_rate = ${plan.workspace_rate},
      key_limit = ${plan.api_key_limit},
      domain_limit = ${plan.domain_limit}, webhook_limit = ${plan.webhook_limit}, member_limit = ${plan.member_limit},
      transport_limit = ${plan.transport_limit},
      capture_bytes_limit = ${plan.capture_bytes_limit}
    where name = ${plan.name}`;
}

export async function isPlanUsed(tx: Tx, name: string): Promise<boolean> {
  const [row] = await tx<{ used: boolean }[]>`
    select exists (select from workspaces where plan = ${name}) as used`;
  return row?.used ?? false;
}

export async function deletePlanRow(tx: Tx, name: string): Promise<void> {
  await tx`delete from plans where name = ${name}`;
}
