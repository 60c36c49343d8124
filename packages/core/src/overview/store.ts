import type { Sql } from '@postrider/db';
import { isFailing } from '../webhooks/index.ts';

export interface StepRow {
  readonly name: 'key' | 'test_send' | 'domain' | 'verify' | 'webhook';
  readonly id: string;
  readonly at: Date;
}

/** Returns the first resource of each setup step. Each is one probe of a primary key or of a short list. */
export async function firstSteps(sql: Sql, workspace_id: string): Promise<StepRow[]> {
  return sql<StepRow[]>`
    select 'key' as name, k.id, k.created_at as at
    from (select id, created_at from api_keys where workspace_id = ${workspace_id} order by id limit 1) k
    union all
    select 'test_send', m.id, m.created_at
    from (select id, created_at from messages where workspace_id = ${workspace_id} order by id limit 1) m
    union all
    select 'domain', d.id, d.created_at
    from (select id, created_at from domains where workspace_id = ${workspace_id} and not sandbox order by id limit 1) d
    union all
    select 'verify', d.id, d.verified_at
    from (
      select id, verified_at from domains
      where workspace_id = ${workspace_id} and not sandbox and verified_at is not null order by verified_at limit 1
    ) d
    union all
    select 'webhook', w.id, w.created_at
    from (select id, created_at from webhooks where workspace_id = ${workspace_id} order by id limit 1) w`;
}

export interface TroubleRow {
  readonly kind: 'domain' | 'webhook' | 'hold';
  /** The state that all resources of this row share. */
  readonly state: string;
  readonly count: number;
  readonly since: Date;
  /** The names of the first few resources. */
  readonly names: string[];
}

/** Returns the problems that need action: domains without their records, failing endpoints, and active holds. */
export async function troubles(sql: Sql, workspace_id: string, max_names: number): Promise<TroubleRow[]> {
  return sql<TroubleRow[]>`
    select kind, state, count(*)::int as count, min(since) as since,
      (array_agg(name order by since, name))[1:${max_names}::int] as names
    from (
      select 'domain' as kind, status as state, name, status_since as since from domains
      where workspace_id = ${workspace_id} and not sandbox and status in ('at_risk', 'failed', 'suspended')
      union all
      select 'webhook', case status when 'disabled' then 'disabled' else 'failing' end, id_text(id),
        coalesce(failing_since, last_success_at, created_at)
      from webhooks
      where workspace_id = ${workspace_id} and status_reason is distinct from 'manual'
        and (status = 'disabled' or ${isFailing(sql, sql`failing_since`)})
      union all
      select 'hold', scope, id_text(id), created_at from holds
      where workspace_id = ${workspace_id} and ended_at is null and expires_at > clock_now()
    ) found
    group by kind, state`;
}
