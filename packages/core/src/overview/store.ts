import type { Sql } from '@postrider/db';

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
