import type { Sql } from '@postrider/db';

export interface FeedbackProblem {
  /** missing: no feedback is set up. rejected: its requests fail their signature check. */
  readonly kind: 'missing' | 'rejected';
  /** The name of the transport. */
  readonly name: string;
  /** Since when no request was valid; null: unknown. */
  readonly since: Date | null;
  readonly host: string;
  readonly envelope_from: 'ours' | 'from_domain';
}

/**
 * Returns the relays in the rules of a workspace or, if none is given, of the instance, whose reports do not arrive. A
 * rule after one for all email is never reached. There are few rules and transports, and both tables are read whole or by
 * their primary key.
 */
export async function feedbackProblemsOf(
  sql: Sql,
  workspace_id: string | null,
  quiet_seconds: number,
  max: number,
): Promise<FeedbackProblem[]> {
  const rules =
    workspace_id === null
      ? sql`select position, transports, num_nonnulls(workspace_id, from_domain, tag, priority, destination) = 0 as is_of_all
          from transport_rules`
      : sql`select position, transports, num_nonnulls(from_domain, tag, priority, destination) = 0 as is_of_all
          from workspace_transport_rules where workspace_id = ${workspace_id}`;
  return sql<FeedbackProblem[]>`
    with rules as materialized (${rules}),
    used as (
      select distinct u.id from rules r cross join unnest(r.transports) as u (id)
      where not exists (select from rules e where e.is_of_all and e.position < r.position)
    )
    select case when f.transport_id is null then 'missing' else 'rejected' end as kind, t.name,
      coalesce(f.confirmed_at, f.created_at) as since,
      coalesce(t.host, '') as host, t.envelope_from
    from used u
    join transports t on t.id = u.id and t.kind = 'smtp' and t.workspace_id is not distinct from ${workspace_id}::uuid
    left join transport_feedback f on f.transport_id = t.id
    where f.transport_id is null
      or f.rejected_at > coalesce(f.confirmed_at + make_interval(secs => ${quiet_seconds}), '-infinity')
    order by t.name limit ${max}`;
}
