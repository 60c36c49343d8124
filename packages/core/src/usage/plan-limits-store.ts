import type { Fragment, Sql, Tx } from '@postrider/db';

/** The resources whose number a plan may limit. */
export type LimitedResource = 'api_keys' | 'domains' | 'webhooks' | 'members' | 'transports';

interface CountQuery {
  /** The limit's column in plan p. */
  limit(sql: Sql | Tx): Fragment;
  /** Counts the resources in a workspace. */
  count(sql: Sql | Tx, workspace_id: Fragment): Fragment;
}

const queries: Readonly<Record<LimitedResource, CountQuery>> = {
  api_keys: {
    limit: (sql) => sql`p.key_limit`,
    count: (sql, workspace_id) => sql`(
      select count(*)::int from api_keys k where k.workspace_id = ${workspace_id} and k.revoked_at is null
        and coalesce(k.expires_at, 'infinity') > clock_now() and k.replaced_by is null)`,
  },
  domains: {
    limit: (sql) => sql`p.domain_limit`,
    count: (sql, workspace_id) =>
      sql`(select count(*)::int from domains d where d.workspace_id = ${workspace_id} and not d.sandbox)`,
  },
  webhooks: {
    limit: (sql) => sql`p.webhook_limit`,
    count: (sql, workspace_id) => sql`(select count(*)::int from webhooks h where h.workspace_id = ${workspace_id})`,
  },
  members: {
    limit: (sql) => sql`p.member_limit`,
    count: (sql, workspace_id) => sql`(select count(*)::int from members m where m.workspace_id = ${workspace_id})`,
  },
  transports: {
    limit: (sql) => sql`p.transport_limit`,
    count: (sql, workspace_id) => sql`(select count(*)::int from transports t where t.workspace_id = ${workspace_id})`,
  },
};

/** Locks the workspace until the commit. */
export async function lockPlanOf(
  tx: Tx,
  workspace_id: string,
  resource: LimitedResource,
): Promise<{ readonly plan: string; readonly limit: number | null }> {
  const [row] = await tx<{ plan: string; limit: number | null }[]>`
    select p.name as plan, ${queries[resource].limit(tx)} as limit
    from workspaces w join plans p on p.name = w.plan
    where w.id = ${workspace_id} for no key update of w`;
  if (!row) throw new Error('an actor belongs to no workspace');
  return row;
}

/**
 * Counts in a separate statement after the lock, so that the count includes everything committed while the lock was
 * awaited.
 */
export async function countOf(tx: Tx, workspace_id: string, resource: LimitedResource): Promise<number> {
  const [row] = await tx<
    { count: number }[]
  >`select ${queries[resource].count(tx, tx`${workspace_id}::uuid`)} as count`;
  return row?.count ?? 0;
}

export interface PlanUseRow extends Readonly<Record<LimitedResource, number>> {
  readonly workspace_id: string;
  readonly capture_bytes: number;
  /** Requests by all keys in this minute, up to the limit. */
  readonly minute_requests: number;
  readonly workspace_rate: number | null;
  readonly key_limit: number | null;
  readonly domain_limit: number | null;
  readonly webhook_limit: number | null;
  readonly member_limit: number | null;
  readonly transport_limit: number | null;
  readonly capture_bytes_limit: number | null;
}

export async function planUses(sql: Sql | Tx, workspace_ids: readonly string[]): Promise<PlanUseRow[]> {
  const own = sql`w.id`;
  return sql<PlanUseRow[]>`
    select w.id as workspace_id, ${queries.api_keys.count(sql, own)} as api_keys, ${queries.domains.count(sql, own)} as domains,
      ${queries.webhooks.count(sql, own)} as webhooks, ${queries.members.count(sql, own)} as members,
      ${queries.transports.count(sql, own)} as transports,
      (select coalesce(sum(c.size_bytes), 0)::float8 from captures c where c.workspace_id = w.id) as capture_bytes,
      coalesce(least(p.workspace_rate, (select r.used from rate_windows r
        where p.workspace_rate is not null and r.subject = w.id and r.class = 'workspace'
          and r.minute = date_trunc('minute', clock_now()))), 0) as minute_requests,
      p.workspace_rate, p.key_limit, p.domain_limit, p.webhook_limit, p.member_limit, p.transport_limit, p.capture_bytes_limit::float8 as capture_bytes_limit
    from workspaces w join plans p on p.name = w.plan
    where w.id = any (${[...workspace_ids]}::uuid[])`;
}
