import { listOf, type Sql } from '@postrider/db';

export const MAX_QUALITY_ATTEMPTS = 1000;
/** An attempt of the last day can be for an event from the start of the retry schedule, which lasts 76 hours. */
const LOOKBACK_SECONDS = 4 * 86_400;

export interface QualityRow {
  readonly webhook_id: string;
  readonly attempt_count: number;
  readonly success_count: number;
  /** null without a response. */
  readonly p95_ms: number | null;
}

/**
 * Counts each endpoint's newest attempts within `seconds`, at most MAX_QUALITY_ATTEMPTS, among its newest deliveries
 * (by webhook_deliveries_newest) and the pending ones that are due last (by webhook_deliveries_open): those have been
 * attempted even if a backlog of newer ones has not. Reads as many attempts by primary key.
 */
export async function readQualityRows(
  sql: Sql,
  workspace_id: string,
  webhook_ids: readonly string[],
  seconds: number,
): Promise<QualityRow[]> {
  return sql<QualityRow[]>`
    select w.id as webhook_id, count(a.at)::int as attempt_count,
      (count(*) filter (where a.response_status between 200 and 299))::int as success_count,
      percentile_disc(0.95) within group (order by a.duration_ms) filter (where a.response_status is not null) as p95_ms
    from unnest(${[...webhook_ids]}::uuid[]) as w (id)
    left join lateral (
      select one.at, one.duration_ms, one.response_status
      from (
        (
          select d.workspace_id, d.id from webhook_deliveries d
          where ${listOf(sql, sql`d.webhook_id`, sql`w.id`)}
            and d.id >= id_floor(clock_now() - make_interval(secs => ${LOOKBACK_SECONDS}))
          order by d.id desc limit ${MAX_QUALITY_ATTEMPTS}
        )
        union
        (
          select d.workspace_id, d.id from webhook_deliveries d
          where d.webhook_id = w.id and d.state = 'pending'
          order by d.next_attempt_at desc limit ${MAX_QUALITY_ATTEMPTS}
        )
      ) recent
      cross join lateral (
        select x.at, x.number, x.duration_ms, x.response_status from webhook_attempts x
        where x.delivery_id = recent.id and x.workspace_id = ${workspace_id}
          and x.at >= clock_now() - make_interval(secs => ${seconds})
        union
        -- The last attempt is also on its delivery; a first one that succeeded is only there.
        select d.last_attempt_at, d.attempt_count, d.duration_ms, d.response_status from webhook_deliveries d
        where d.id = recent.id and d.workspace_id = ${workspace_id} and d.state = 'delivered'
          and d.last_attempt_at >= clock_now() - make_interval(secs => ${seconds})
      ) one
      order by one.at desc limit ${MAX_QUALITY_ATTEMPTS}
    ) a on true
    group by w.id`;
}
