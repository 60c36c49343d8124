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

/** Returns the number of active holds on the instance and on the given workspaces, and which hold expires first. */
export async function activeHolds(
  sql: Sql,
  workspace_ids: readonly string[],
): Promise<{ readonly count: number; readonly first_end: Date | null }> {
  const [row] = await sql<{ count: number; first_end: Date | null }[]>`
    select count(*)::int as count, min(h.expires_at) as first_end from holds h
    where h.ended_at is null and h.expires_at > clock_now() and h.workspace_id = any (${[...workspace_ids]}::uuid[])`;
  return row ?? { count: 0, first_end: null };
}

export interface WorkspaceFacts {
  readonly broken_domains: string[];
  readonly shaky_domains: string[];
  readonly disabled_webhooks: string[];
  readonly failing_webhooks: string[];
}

/**
 * Returns the names of broken and at-risk domains and the ids of disabled and failing webhooks in a workspace, a few of
 * each.
 */
export async function workspaceFacts(sql: Sql, workspace_id: string): Promise<WorkspaceFacts> {
  const domains = (states: readonly string[]) => sql`array(
    select d.name from domains d where d.workspace_id = ${workspace_id} and d.status = any (${[...states]}::text[])
    order by d.name limit ${MAX_LISTED}
  )`;
  const [row] = await sql<WorkspaceFacts[]>`
    select ${domains(['failed', 'suspended'])} as broken_domains, ${domains(['at_risk'])} as shaky_domains,
      array(
        select w.id from webhooks w where w.workspace_id = ${workspace_id} and w.status = 'disabled'
          and w.status_reason <> 'manual' order by w.id limit ${MAX_LISTED}
      ) as disabled_webhooks,
      array(
        select w.id from webhooks w where w.workspace_id = ${workspace_id} and w.status = 'enabled'
          and ${isFailing(sql, sql`w.failing_since`)} order by w.id limit ${MAX_LISTED}
      ) as failing_webhooks`;
  if (!row) throw new Error('a select without a condition answered nothing');
  return row;
}
