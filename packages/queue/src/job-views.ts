import { type Fragment, fence, type Sql, type Tx } from '@postrider/db';

// Queries on pg-boss's tables for operators. Each reads a bounded number of entries of one of pg-boss's indexes,
// regardless of the number of jobs.

export const jobStates = ['deferred', 'ready', 'active', 'retry', 'completed', 'canceled', 'dead'] as const;
export type JobState = (typeof jobStates)[number];

export interface JobRow {
  readonly id: string;
  readonly queue: string;
  readonly state: JobState;
  readonly data: unknown;
  readonly output: unknown;
  readonly retry_count: number;
  readonly retry_limit: number;
  readonly priority: number;
  readonly start_after: Date;
  readonly created_at: Date;
  readonly started_at: Date | null;
  readonly completed_at: Date | null;
  readonly heartbeat_at: Date | null;
}

function columns(sql: Sql | Tx): Fragment {
  return sql`
    j.id, j.name as queue, j.data, j.output, j.retry_count, j.retry_limit, j.priority, j.start_after,
    j.created_on as created_at, j.started_on as started_at, j.completed_on as completed_at,
    j.heartbeat_on as heartbeat_at,
    case j.state when 'created' then case when j.start_after > pgboss.job_now() then 'deferred' else 'ready' end
      when 'cancelled' then 'canceled' when 'failed' then 'dead' else j.state::text end as state`;
}

/**
 * Returns, for each state, its SQL condition and the time by which an index orders the jobs in that state. Uses
 * literals, so that partial indexes match.
 */
function statesOf(sql: Sql | Tx): Record<JobState | 'all', { readonly where: Fragment; readonly place: Fragment }> {
  const due = sql`j.start_after`;
  const completed_on = sql`j.completed_on`;
  return {
    all: { where: sql`true`, place: sql`j.created_on` },
    deferred: { where: sql`j.state = 'created' and not j.blocked and j.start_after > pgboss.job_now()`, place: due },
    ready: { where: sql`j.state = 'created' and not j.blocked and j.start_after <= pgboss.job_now()`, place: due },
    active: { where: sql`j.state = 'active' and not j.blocked`, place: due },
    retry: { where: sql`j.state = 'retry' and not j.blocked`, place: due },
    dead: { where: sql`j.state = 'failed' and not j.blocked`, place: due },
    completed: { where: sql`j.completed_on is not null`, place: completed_on },
    canceled: { where: sql`j.completed_on is not null`, place: completed_on },
  };
}

export interface JobQuery {
  readonly queues: readonly string[];
  readonly state: JobState | null;
  readonly since: Date | null;
  readonly until: Date | null;
  /** Fields that the payload must contain. */
  readonly data: Readonly<Record<string, string>> | null;
  /** The end of the previous page: a time with microseconds, and an id. */
  readonly after: JobPlace | null;
  readonly count: number;
}

export interface JobPlace {
  readonly at: string;
  readonly id: string;
}

export interface JobPage {
  readonly rows: readonly (JobRow & { readonly place: string })[];
  /**
   * The position after which the next page starts; null on the last page. A page may contain fewer jobs than requested
   * even if there are more.
   */
  readonly edge: JobPlace | null;
}

// The maximum number of jobs of each queue that a page examines when filters have no index.
const EXAMINED = 1000;

type CandidateRow = JobRow & { readonly place: string; readonly passes: boolean; readonly nth: number };

/**
 * Returns jobs of the given queues, latest first. Jobs are ordered by due time or end time, depending on the state, or
 * by creation time for any state.
 */
export async function readJobPage(sql: Sql, query: JobQuery): Promise<JobPage> {
  const { state, since, until, data, after, count } = query;
  const filtered = since || until || data || state === 'completed' || state === 'canceled';
  const max = filtered ? EXAMINED : count;
  const { where: condition, place } = statesOf(sql)[state ?? 'all'];
  const pages = await Promise.all(
    query.queues.map(
      (queue) => sql<CandidateRow[]>`
        with seen as materialized (
          select ${columns(sql)}, ${place} as at from pgboss.job j
          where j.name = ${queue} and ${condition}
            ${
              after
                ? sql`and ${place} <= ${after.at}::text::timestamptz
                    and (${place}, j.id) < (${after.at}::text::timestamptz, ${after.id}::uuid)`
                : sql``
            }
          order by ${place} desc, j.id desc limit ${max}
        )
        select id, queue, state, data, output, retry_count, retry_limit, priority, start_after, created_at, started_at,
          completed_at, heartbeat_at, at::text as place, nth, passes
        from (
          select *, row_number() over (order by at desc, id desc)::int as nth, true
            ${state ? sql`and state = ${state}` : sql``}
            ${since ? sql`and created_at >= ${since}` : sql``}
            ${until ? sql`and created_at < ${until}` : sql``}
            ${data ? sql`and data @> ${JSON.stringify(data)}::text::jsonb` : sql``} as passes
          from seen
        ) s
        where passes or nth = ${max}
        order by nth`,
    ),
  );
  // If a queue was not read to the end, its unread jobs may belong between the later rows of other queues, so the page
  // ends at the last row that was read.
  const ends = pages.flatMap((page) => page.filter((row) => row.nth === max));
  const end = ends.sort(latestFirst)[0];
  const passing = pages
    .flatMap((page) => page.filter((row) => row.passes))
    .filter((row) => !end || latestFirst(row, end) <= 0)
    .sort(latestFirst);
  const rows = passing.slice(0, count);
  const last = passing.length > count ? rows.at(-1) : end;
  return { rows, edge: last ? { at: last.place, id: last.id } : null };
}

function latestFirst(left: CandidateRow, right: CandidateRow): number {
  const [a, b] = [placeKey(left.place), placeKey(right.place)];
  if (a !== b) return a < b ? 1 : -1;
  return left.id < right.id ? 1 : left.id > right.id ? -1 : 0;
}

/**
 * Returns a place as a sortable string. Postgres omits trailing zeros of a fraction, which would break string ordering.
 */
function placeKey(place: string): string {
  const [, seconds = '', fraction = ''] = /^([^.+]*)(?:\.(\d+))?/.exec(place) ?? [];
  return `${seconds}.${fraction.padEnd(6, '0')}`;
}

/** Returns jobs by id, each looked up in every queue. */
export async function jobsByIds(sql: Sql | Tx, queues: readonly string[], ids: readonly string[]): Promise<JobRow[]> {
  return sql<JobRow[]>`
    select f.* from unnest(${queues}::text[]) as q (name)
    cross join unnest(${ids}::uuid[]) as a (id)
    cross join lateral (select ${columns(sql)} from pgboss.job j where j.name = q.name and j.id = a.id ${fence}) f`;
}

export interface QueueGauges {
  readonly queue: string;
  readonly ready: number;
  readonly deferred: number;
  readonly active: number;
  readonly dead: number;
  readonly oldest_ready_seconds: number | null;
}

/**
 * Returns the metrics of each queue. Counts jobs up to a limit with an index-only scan. Beyond the limit, returns the
 * last count of pg-boss's monitor, which is a few seconds old.
 */
export async function gaugesOf(sql: Sql | Tx, queues: readonly string[], bound: number): Promise<QueueGauges[]> {
  const count = (state: Fragment, cached: Fragment) => sql`
    (select case when count(*) < ${bound}::int then count(*) else greatest(count(*), ${cached}) end::int
      from (select from pgboss.job j where j.name = q.name and not j.blocked and ${state} limit ${bound}) counted)`;
  const oldest = (state: Fragment) => sql`
    (select j.start_after from pgboss.job j
      where j.name = q.name and ${state} and not j.blocked and j.start_after <= pgboss.job_now()
      order by j.start_after limit 1)`;
  return sql<QueueGauges[]>`
    select q.name as queue,
      ${count(sql`j.state = 'created' and j.start_after <= pgboss.job_now()`, sql`q.ready_count`)}
        + ${count(sql`j.state = 'retry' and j.start_after <= pgboss.job_now()`, sql`0`)} as ready,
      ${count(sql`j.state = 'created' and j.start_after > pgboss.job_now()`, sql`q.deferred_count`)}
        + ${count(sql`j.state = 'retry' and j.start_after > pgboss.job_now()`, sql`0`)} as deferred,
      ${count(sql`j.state = 'active'`, sql`q.active_count`)} as active,
      ${count(sql`j.state = 'failed'`, sql`q.failed_count`)} as dead,
      extract(epoch from pgboss.job_now() - least(${oldest(sql`j.state = 'created'`)}, ${oldest(sql`j.state = 'retry'`)}))::float8
        as oldest_ready_seconds
    from pgboss.queue q where q.name = any (${queues}::text[]) order by q.name`;
}

/** A registered worker process. */
export interface InstanceRow {
  readonly id: string;
  readonly name: string | null;
  readonly host: string;
  readonly pid: number;
  readonly live: boolean;
  readonly started_at: Date;
  readonly heartbeat_at: Date;
  readonly stopped_at: Date | null;
  readonly rss_bytes: number | null;
  readonly cpu: number | null;
  readonly loop_delay_p99_ms: number | null;
  readonly pool_waiting: number | null;
  readonly crash_restarts: number;
}

// As in pg-boss: three missed heartbeats.
const QUIET_BEATS = 3;

/** Returns live instances and instances seen within `gone_seconds`, latest first. */
export async function instancesOf(sql: Sql | Tx, gone_seconds: number): Promise<InstanceRow[]> {
  return sql<InstanceRow[]>`
    select id, name, host, pid, started_on as started_at, heartbeat_on as heartbeat_at, stopped_on as stopped_at,
      stopped_on is null and heartbeat_on >= pgboss.job_now() - make_interval(secs => heartbeat_seconds * ${QUIET_BEATS}) as live,
      (metrics->>'rss')::float8 as rss_bytes, (metrics->>'cpu')::float8 as cpu,
      (metrics->>'loopDelay')::float8 as loop_delay_p99_ms, pool_waiting, crash_restarts
    from pgboss.instance
    where heartbeat_on >= pgboss.job_now() - make_interval(secs => ${gone_seconds})
    order by started_on desc, id limit 1000`;
}

export interface ScheduleRow {
  readonly name: string;
  readonly cron: string;
  readonly timezone: string;
  readonly missed: 'skip' | 'once';
  readonly last_job_id: string | null;
  readonly now: Date;
}

export async function schedulesOf(sql: Sql): Promise<ScheduleRow[]> {
  return sql<ScheduleRow[]>`
    select name, cron, coalesce(timezone, 'UTC') as timezone, coalesce(options->>'missed', 'skip') as missed,
      last_job_id, pgboss.job_now() as now
    from pgboss.schedule order by name, key`;
}
