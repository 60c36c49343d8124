import type { Sql } from '@postrider/db';
import { isThere } from '../delivery/index.ts';
import { holdsQueue } from '../holds/index.ts';
import type { JobName } from '../process/jobs.ts';
import { isFailing } from '../webhooks/index.ts';

const DELIVERY_JOB: JobName = 'delivery.attempt';
const MAX_LISTED = 5;

/** Facts that show whether email is being sent; all of them are lookups in small tables. */
export interface InstanceFacts {
  readonly now: Date;
  readonly worker_there: boolean;
  readonly worker_seen: Date | null;
  readonly oldest_ready_seconds: number | null;
  readonly measured_at: Date | null;
  readonly mail_held: boolean;
  readonly dead: number;
  readonly queues_with_dead: string[];
}

export async function instanceFacts(sql: Sql): Promise<InstanceFacts> {
  const [row] = await sql<InstanceFacts[]>`
    select clock_now() as now,
      (select coalesce(bool_or(${isThere(sql)}), false) from delivery_workers w) as worker_there,
      (select max(w.noted_at) from delivery_workers w) as worker_seen,
      m.oldest_ready_seconds, m.measured_at,
      exists (
        select from holds h
        where ${holdsQueue(sql, sql`${DELIVERY_JOB}::text`)}
      ) as mail_held,
      (select coalesce(sum(q.dead), 0)::int from queue_measures q) as dead,
      array(
        select q.queue from queue_measures q where q.dead > 0 order by q.dead desc, q.queue limit ${MAX_LISTED}
      ) as queues_with_dead
    from (values (1)) as always
    left join queue_measures m on m.queue = ${DELIVERY_JOB}`;
  if (!row) throw new Error('a select without a condition answered nothing');
  return row;
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
      select 'hold', scope,
        scope || ' ' || case when value = '' then id_text(value_id) else value end || ' (' || left(reason, 80) || ')', created_at
      from holds
      where workspace_id = ${workspace_id} and ended_at is null and expires_at > clock_now()
    ) found
    group by kind, state`;
}
