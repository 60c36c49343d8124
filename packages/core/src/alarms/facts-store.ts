import type { Fragment, Tx } from '@postrider/db';
import { INSTANCE } from '../operation/access.ts';
import { BINS_PER_DOUBLING } from '../stats/index.ts';
import { isFailing } from '../webhooks/index.ts';

/** A first attempt that starts later than this counts as late. */
export const LATE_SECONDS = 60;
// The first bin of the histograms that contains only later ones.
const LATE_BIN = Math.ceil(BINS_PER_DOUBLING * Math.log2(LATE_SECONDS * 1000));
export const BURN_HOURS = { short: 1, long: 6 } as const;
export const RECENT_MINUTES = 15;
const MAX_PROVIDERS = 200;
// Limits per kind: for each workspace, and in total.
const MAX_OWN_SUBJECTS = 25;
const MAX_SUBJECTS = 5000;

/** A subject for which a workspace or the instance may have an alarm. */
export interface Subject {
  readonly workspace_id: string;
  readonly subject: string;
  readonly value: number;
}

/** The facts that the rules need in addition to the numbers of the instance. */
export interface AlarmFacts {
  /**
   * First attempts made more than a minute late, and all first attempts, in the last hour and in the last six hours.
   */
  readonly first_attempts: {
    readonly late_1h: number;
    readonly all_1h: number;
    readonly late_6h: number;
    readonly all_6h: number;
  };
  /** Queue depths a quarter of an hour ago. */
  readonly before: readonly { readonly queue: string; readonly waiting: number; readonly dead: number }[];
  readonly attempts: number;
  readonly signature: { readonly count: number; readonly sample: string } | null;
  readonly providers: readonly { readonly provider: string; readonly deferred: number; readonly attempts: number }[];
  /** Endpoints, with the seconds they have been failing. */
  readonly endpoints: readonly Subject[];
  /** Holds, with their length in hours and the seconds left. */
  readonly holds: readonly (Subject & { readonly left_seconds: number; readonly name: string })[];
  readonly domains: readonly Subject[];
  readonly quotas: readonly Subject[];
}

export async function alarmFacts(tx: Tx): Promise<AlarmFacts> {
  const burn = (span: keyof typeof BURN_HOURS) => tx`clock_now() - make_interval(hours => ${BURN_HOURS[span]})`;
  const recent = tx`clock_now() - make_interval(mins => ${RECENT_MINUTES})`;
  const [[first], before, [sums], [signature], providers, endpoints, holds, domains, quotas] = await Promise.all([
    tx<AlarmFacts['first_attempts'][]>`
      select
        coalesce(sum(b.n) filter (where b.bin >= ${LATE_BIN} and s.at > ${burn('short')}), 0)::int as late_1h,
        coalesce(sum(b.n) filter (where s.at > ${burn('short')}), 0)::int as all_1h,
        coalesce(sum(b.n) filter (where b.bin >= ${LATE_BIN}), 0)::int as late_6h, coalesce(sum(b.n), 0)::int as all_6h
      from stat_minutes s
      cross join lateral (
        select key::int as bin, value::int as n from jsonb_each_text(coalesce(s.first_attempt, '{}'))
      ) b
      where s.workspace_id = ${INSTANCE} and s.dimension = 'none' and s.at > ${burn('long')}`,
    tx<{ queue: string; waiting: number; dead: number }[]>`
      select distinct on (queue) queue, coalesce(ready, 0) as waiting, coalesce(dead, 0) as dead
      from queue_minutes
      where minute between clock_now() - make_interval(mins => ${2 * RECENT_MINUTES}) and ${recent}
        and measured_at is not null
      order by queue, minute desc`,
    tx<{ attempts: number }[]>`
      select coalesce(sum(delivered + bounced + deferred + failed), 0)::int as attempts from stat_minutes
      where workspace_id = ${INSTANCE} and dimension = 'none' and at > ${recent}`,
    tx<{ count: number; sample: string }[]>`
      select sum(m.count)::int as count, min(g.sample) as sample
      from failure_minutes m
      join failure_groups g on g.workspace_id = m.workspace_id and g.id = m.group_id
      where m.workspace_id = ${INSTANCE} and m.kind = 'smtp' and m.at > ${recent}
      group by m.group_id order by 1 desc limit 1`,
    tx<{ provider: string; deferred: number; attempts: number }[]>`
      select key as provider, sum(deferred)::int as deferred, sum(delivered + bounced + deferred + failed)::int as attempts
      from stat_minutes
      where workspace_id = ${INSTANCE} and dimension = 'provider' and at > ${recent}
      group by 1 order by 3 desc limit ${MAX_PROVIDERS}`,
    tx<Subject[]>`
      select workspace_id, subject, value from (${placed(
        tx,
        tx`select workspace_id, id as subject, failing_since as since,
            extract(epoch from clock_now() - failing_since)::float8 as value
          from webhooks where status = 'enabled' and ${isFailing(tx, tx`failing_since`)}`,
      )}) p`,
    tx<(Subject & { left_seconds: number; name: string })[]>`
      select workspace_id, subject, value, left_seconds, name from (${placed(
        tx,
        tx`select workspace_id, id as subject, created_at as since,
            scope || ' ' || case when value = '' then id_text(value_id) else value end as name,
            extract(epoch from clock_now() - created_at)::float8 / 3600 as value,
            extract(epoch from expires_at - clock_now())::float8 as left_seconds
          from holds where ended_at is null and expires_at > clock_now()`,
      )}) p`,
    tx<Subject[]>`
      select workspace_id, subject, value from (${placed(
        tx,
        tx`select workspace_id, name as subject, status_since as since,
            case status when 'failed' then 2 else 1 end::float8 as value
          from domains where status = 'at_risk' or (status = 'failed' and verified_at is not null)`,
      )}) p`,
    tx<Subject[]>`
      select workspace_id, '' as subject, used::float8 / monthly_limit as value from usage_months
      where month = date_trunc('month', clock_now() at time zone 'UTC')::date
        and monthly_limit > 0 and used * 5 >= monthly_limit * 4
      order by value desc, workspace_id limit ${MAX_SUBJECTS}`,
  ]);
  const no_counts = { late_1h: 0, all_1h: 0, late_6h: 0, all_6h: 0 };
  return {
    first_attempts: first ?? no_counts,
    before,
    attempts: sums?.attempts ?? 0,
    signature: signature ?? null,
    providers,
    endpoints,
    holds,
    domains,
    quotas,
  };
}

/**
 * Limits each workspace to its oldest subjects. Newer subjects stay hidden until those clear, because displacing an
 * older subject would end its alarm. The instance comes first, then the workspaces round-robin.
 */
function placed(tx: Tx, subjects: Fragment) {
  return tx`
    select * from (
      select *, row_number() over (partition by workspace_id order by since, subject) as place from (${subjects}) s
    ) r
    where place <= ${MAX_OWN_SUBJECTS}
    order by workspace_id <> ${INSTANCE}, place, since, subject limit ${MAX_SUBJECTS}`;
}
