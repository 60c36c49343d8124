import type { Fragment, Sql, Tx } from '@postrider/db';
import { INSTANCE } from '../../operation/access.ts';

export interface PolicyRow {
  readonly second_factor: 'required_for_admins' | 'required';
  readonly grace_days: number;
  readonly since: Date;
}

export async function readPolicy(sql: Sql | Tx, owner: string): Promise<PolicyRow | null> {
  const [row] = await sql<PolicyRow[]>`
    select second_factor, grace_days, since from sign_in_policies where workspace_id = ${owner}`;
  return row ?? null;
}

/** Stores a policy. It counts from now, unless only the grace period has changed. */
export async function writePolicy(tx: Tx, owner: string, policy: Omit<PolicyRow, 'since'>): Promise<void> {
  await tx`
    insert into sign_in_policies as p (workspace_id, second_factor, grace_days, since)
    values (${owner}, ${policy.second_factor}, ${policy.grace_days}, clock_now())
    on conflict (workspace_id) do update set second_factor = excluded.second_factor, grace_days = excluded.grace_days,
      since = case when p.second_factor = excluded.second_factor then p.since else excluded.since end`;
}

export async function deletePolicy(tx: Tx, owner: string): Promise<void> {
  await tx`delete from sign_in_policies where workspace_id = ${owner}`;
}

/**
 * Selects when the user `u`, a member `m` of the workspace `w`, must have a second factor; null if they need none or have
 * one. The stricter policy of workspace and instance applies; operators are bound by the instance's alone, so that no
 * admin of a workspace decides over them.
 */
export function factorDueAt(sql: Sql | Tx): Fragment {
  return sql`(
    select min(greatest(p.since, coalesce(m.created_at, u.created_at)) + make_interval(days => p.grace_days))
    from sign_in_policies p
    where (p.workspace_id = ${INSTANCE}::uuid or (p.workspace_id = w.id and not u.operator))
      and (p.second_factor = 'required' or u.operator or m.role = 'admin')
      and not exists (select from totp_factors f where f.user_id = u.id))`;
}

export async function readFactorDueAt(sql: Sql | Tx, user_id: string, workspace_id: string): Promise<Date | null> {
  const [row] = await sql<{ due_at: Date | null }[]>`
    select ${factorDueAt(sql)} as due_at from users u
    join workspaces w on w.id = ${workspace_id}
    left join members m on m.workspace_id = w.id and m.user_id = u.id
    where u.id = ${user_id}`;
  return row?.due_at ?? null;
}

/** Returns whether a policy of the instance or of any workspace of a user requires a second factor of them. */
export async function isFactorRequired(tx: Tx, user_id: string): Promise<boolean> {
  const rows = await tx`
    select from sign_in_policies p join users u on u.id = ${user_id}
    where case when u.operator then p.workspace_id = ${INSTANCE}::uuid else exists (
      select from members m
      where m.user_id = u.id and (p.workspace_id = m.workspace_id or p.workspace_id = ${INSTANCE}::uuid)
        and (p.second_factor = 'required' or m.role = 'admin')) end
    limit 1`;
  return rows.length > 0;
}
