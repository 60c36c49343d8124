import type { Sql } from '@postrider/db';
import { transportInLane } from './lane-store.ts';

interface TransportState {
  readonly transport_id: string;
  /** Closed destinations, by why they are closed. */
  readonly failing: number;
  readonly limited: number;
  readonly closed_until: Date | null;
  readonly waiting: number;
  readonly last_reply: string | null;
  readonly used_today: number | null;
  readonly delivered_today: number;
}

/**
 * Returns the state of each transport of a workspace or, if none is given, of the instance, the default one first.
 * Closed lanes are few, and so are lanes with parked email.
 */
export async function transportStates(
  sql: Sql,
  workspace_id: string | null,
  max_counted: number,
): Promise<TransportState[]> {
  const of_instance = workspace_id === null;
  return sql<TransportState[]>`
    with ids as (
      select 'default' as id, null::uuid as row_id, '' as name, false as is_limited where ${of_instance}
      union all
      select id_text(id), id, name, messages_per_day is not null or messages_per_minute is not null from transports
      where ${of_instance ? sql`workspace_id is null` : sql`workspace_id = ${workspace_id}`}
    ),
    closed as materialized (
      select ${transportInLane(sql, sql`lane`)} as id, closed_until, reason, last_reply
      from lanes where closed_until > clock_now() and lane not like 'held %'
    ),
    parked as materialized (
      select i.id, p.count from ids i
      join lanes l on ${transportInLane(sql, sql`l.lane`)} = i.id and l.lane not like 'held %'
      cross join lateral (
        select count(*)::int as count from (select from parked_deliveries x where x.lane = l.lane limit ${max_counted}) x
      ) p
    )
    select i.id as transport_id,
      count(*) filter (where c.reason = 'failing')::int as failing,
      count(*) filter (where c.reason in ('limit', 'transport_limit'))::int as limited,
      min(c.closed_until) as closed_until,
      (select least(${max_counted}::int, coalesce(sum(p.count), 0)::int) from parked p where p.id = i.id) as waiting,
      (array_agg(c.last_reply order by c.closed_until desc) filter (where c.last_reply is not null))[1] as last_reply,
      case when i.is_limited then coalesce((
        select w.used from transport_windows w where w.transport_id = i.row_id and w.unit = 'day'
          and w.starts_at = date_trunc('day', clock_now() at time zone 'UTC') at time zone 'UTC'
      ), 0) end as used_today,
      coalesce((
        select d.delivered from stat_days d where d.workspace_id = ${of_instance ? sql`no_id()` : sql`${workspace_id}`}
          and d.dimension = 'transport' and d.key = i.id
          and d.at = date_trunc('day', clock_now() at time zone 'UTC') at time zone 'UTC'
      ), 0) as delivered_today
    from ids i left join closed c on c.id = i.id
    group by i.id, i.row_id, i.name, i.is_limited
    order by i.row_id is not null, i.name`;
}
