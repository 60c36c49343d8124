import { equalsUnpruned, type Fragment, fence, isoTimes, retryingDeadlock, type Sql, type Tx } from '@postrider/db';
import type { AcquiredRow, Job, JobHold } from '@postrider/queue';
import type { Services } from '../operation/context.ts';
import type { KeyMode } from '../operation/secrets.ts';
import { jobPriorities, jobPriority, jobPriorityOf, type Priority } from '../priorities/index.ts';
import { idleInSql, openInSql, type RecipientKey } from '../states/index.ts';

type Database = Pick<Services, 'sql' | 'jobs'>;

/** The facts about a fetched job that determine its lane. */
export interface Addressee {
  readonly email: string;
  readonly mode: KeyMode;
  readonly from_domain: string;
  readonly api_key_id: string | null;
  readonly tags: readonly string[];
  readonly body_bytes: number;
  readonly due_at: Date;
}

export interface FetchedJob {
  readonly job: Job<RecipientKey>;
  readonly priority: Priority;
  /** The creation time of the job. */
  readonly created_on: Date;
  /** Null if there is nothing to send: the recipient is not due, closed, claimed, or deleted. */
  readonly addressee: Addressee | null;
}

/** Which jobs of a priority to fetch; with `created_after`, older ones may be left out. */
export interface MailRequest {
  readonly priority: Priority;
  readonly count: number;
  readonly created_after: Date | null;
}

/** Fetches ready jobs with their recipients, served by the primary keys. */
export async function fetchDeliveries({ sql, jobs }: Database, batches: readonly MailRequest[]): Promise<FetchedJob[]> {
  const requests = batches.map((one) => ({ ...one, priority: jobPriorities[one.priority] }));
  const rows = await sql<
    (AcquiredRow & { created_on: Date; ready: boolean | null; job_priority: number } & Addressee)[]
  >`
    with fetched as (${jobs.acquisition(sql, 'delivery.attempt', requests)})
    select f.id, f.retry_count, f.data, f.created_on, f.priority as job_priority, r.email, m.mode, m.from_domain, m.api_key_id, m.tags, m.body_bytes, r.due_at, r.ready
    from fetched f
    left join lateral (
      select x.email, x.due_at, x.due_at <= clock_now() and (x.state in (${idleInSql})
        or (x.state = 'sending' and x.lease_until < clock_now())) as ready
      from recipients x where x.workspace_id = (f.data ->> 'workspace_id')::uuid
        and x.message_id = (f.data ->> 'message_id')::uuid and x.id = (f.data ->> 'recipient_id')::uuid ${fence}
    ) r on true
    left join lateral (
      select x.mode, x.from_domain, x.api_key_id, x.tags, x.body_bytes from messages x
      where x.workspace_id = (f.data ->> 'workspace_id')::uuid and x.id = (f.data ->> 'message_id')::uuid ${fence}
    ) m on true
    order by f.created_on`;
  return (await jobs.acquired('delivery.attempt', rows)).map(({ row, job }) => ({
    job,
    priority: jobPriority(row.job_priority),
    created_on: row.created_on,
    addressee: row.ready && row.mode !== null ? row : null,
  }));
}

export interface ToPark extends RecipientKey {
  readonly job: JobHold;
  readonly lane: string;
  readonly priority: Priority;
  readonly due_at: Date;
}

/**
 * Moves fetched jobs out of the queue in one statement without touching their recipients. A job that another worker has
 * fetched in the meantime stays in the queue. Returns how many were parked.
 */
export async function parkDeliveries({ sql, jobs }: Database, unordered: readonly ToPark[]): Promise<number> {
  if (unordered.length === 0) return 0;
  // Every statement locks jobs in this order.
  const parked = unordered.toSorted((left, right) => (left.job.id < right.job.id ? -1 : 1));
  const holds = parked.map(({ job }) => job);
  const rows = await retryingDeadlock(
    () => sql`
    with withdrawn as (${jobs.withdrawal(sql, 'delivery.attempt', holds)}),
    tended as (
      insert into lanes (lane, tended_at)
      select a.lane, clock_now() from (select distinct lane from unnest(${parked.map(({ lane }) => lane)}::text[]) as l (lane)) a
      order by a.lane
      on conflict (lane) do nothing
    )
    insert into parked_deliveries (job_id, lane, priority, workspace_id, message_id, recipient_id, due_at)
    select w.id, a.lane, a.priority::mail_priority, a.workspace_id, a.message_id, a.recipient_id, a.due_at
    from withdrawn w
    join unnest(
      ${holds.map(({ id }) => id)}::uuid[],
      ${parked.map(({ lane }) => lane)}::text[],
      ${parked.map(({ priority }) => priority)}::text[],
      ${parked.map(({ workspace_id }) => workspace_id)}::uuid[],
      ${parked.map(({ message_id }) => message_id)}::uuid[],
      ${parked.map(({ recipient_id }) => recipient_id)}::uuid[],
      ${isoTimes(parked.map(({ due_at }) => due_at))}::timestamptz[]
    ) as a (job_id, lane, priority, workspace_id, message_id, recipient_id, due_at) on a.job_id = w.id
    on conflict (job_id) do nothing
    returning job_id`,
  );
  return rows.length;
}

/** How many parked messages of a priority to take from a lane. */
export interface Slice {
  readonly lane: string;
  readonly priority: Priority;
  readonly count: number;
  /** The workspace that was served last; an empty string starts with the first. */
  readonly after: string;
}

export interface ResumedJob extends RecipientKey {
  readonly lane: string;
  readonly priority: Priority;
  readonly job_id: string;
  readonly email: string;
  readonly mode: KeyMode;
  readonly from_domain: string;
  readonly api_key_id: string | null;
  readonly tags: readonly string[];
  readonly body_bytes: number;
  readonly due_at: Date;
}

export const WORKSPACES_IN_A_SLICE = 16;

/**
 * Moves the next slices of parked messages from their lanes back into the queue, as jobs already fetched by the caller:
 * round-robin across workspaces, earliest due first. Workers skip each other's rows; canceled or rescheduled messages
 * are dropped. Served by parked_deliveries_turn, one step per workspace, and by primary keys: the condition lists
 * states instead of "open", so that the planner cannot walk recipients_open for a key.
 */
export async function resumeParked({ sql, jobs }: Database, slices: readonly Slice[]): Promise<ResumedJob[]> {
  if (slices.length === 0) return [];
  const resumption = jobs.resumption(
    sql,
    'delivery.attempt',
    sql`
      select job_id as id, ${jobPriorityOf(sql, sql`priority`)} as priority, jsonb_build_object(
        'workspace_id', workspace_id, 'message_id', message_id, 'recipient_id', recipient_id) as data
      from live`,
  );
  return sql<ResumedJob[]>`
    with recursive asked as materialized (
      select * from unnest(
        ${slices.map(({ lane }) => lane)}::text[],
        ${slices.map(({ priority }) => priority)}::text[]::mail_priority[],
        ${slices.map(({ count }) => count)}::int[],
        ${slices.map(({ after }) => after)}::uuid[]
      ) as a (lane, priority, count, after)
    ),
    walk as (
      select a.lane, a.priority, a.count, 1 as place, f.workspace_id
      from asked a cross join lateral (
        select p.workspace_id from parked_deliveries p
        where p.lane = a.lane and p.priority = a.priority and p.workspace_id > a.after
        order by p.workspace_id limit 1
      ) f
      union all
      select w.lane, w.priority, w.count, w.place + 1, n.workspace_id
      from walk w cross join lateral (
        select p.workspace_id from parked_deliveries p
        where p.lane = w.lane and p.priority = w.priority and p.workspace_id > w.workspace_id
        order by p.workspace_id limit 1
      ) n
      where w.place < ${WORKSPACES_IN_A_SLICE}
    ),
    shares as materialized (
      select w.lane, w.priority, w.workspace_id, w.count,
        ceil(w.count::float8 / count(*) over (partition by w.lane, w.priority))::int as share
      from walk w
    ),
    heads as materialized (
      select s.lane, s.priority, s.workspace_id, s.count, h.job_id, h.place
      from shares s cross join lateral (
        select p.job_id, row_number() over (order by p.due_at, p.job_id) as place from (
          select p.job_id, p.due_at from parked_deliveries p
          where p.lane = s.lane and p.priority = s.priority and p.workspace_id = s.workspace_id
          order by p.due_at, p.job_id limit s.share
          for update skip locked
        ) p
      ) h
    ),
    picked as materialized (
      select job_id from (
        select job_id, count, row_number() over (partition by lane, priority order by place, workspace_id) as turn from heads
      ) t where turn <= count
    ),
    taken as (
      delete from parked_deliveries d where d.job_id = any (array(select job_id from picked))
      returning d.lane, d.priority, d.job_id, d.workspace_id, d.message_id, d.recipient_id, d.due_at
    ),
    live as materialized (
      select t.lane, t.priority, t.job_id, t.workspace_id, t.message_id, t.recipient_id, t.due_at, r.email, m.mode, m.from_domain, m.api_key_id, m.tags, m.body_bytes
      from taken t
      cross join lateral (select x.email from recipients x
        where ${equalsUnpruned(sql, sql`x.message_id, x.id, x.workspace_id`, sql`t.message_id, t.recipient_id, t.workspace_id`)}
        and x.job_id = t.job_id and x.state in (${openInSql}) ${fence}) r
      cross join lateral (select x.mode, x.from_domain, x.api_key_id, x.tags, x.body_bytes from messages x
        where ${equalsUnpruned(sql, sql`x.workspace_id, x.id`, sql`t.workspace_id, t.message_id`)} ${fence}) m
    ),
    resumed as (${resumption}),
    tended as (
      update lanes l set tended_at = clock_now() where l.lane in (select lane from asked) and exists (select from taken t where t.lane = l.lane)
    )
    select lane, priority, job_id, workspace_id, message_id, recipient_id, due_at, email, mode, from_domain, api_key_id, tags, body_bytes
    from live order by lane, priority, due_at, job_id`;
}

/** Filters to jobs that are parked: they are waiting for their lane, not lost. */
export async function parkedJobs(sql: Sql | Tx, job_ids: readonly string[]): Promise<Set<string>> {
  const rows = await sql<{ job_id: string }[]>`
    select p.job_id from unnest(${job_ids}::uuid[]) as a (job_id)
    cross join lateral (select x.job_id from parked_deliveries x where x.job_id = a.job_id ${fence}) p`;
  return new Set(rows.map((row) => row.job_id));
}

/** The facts about parked email that determine its transport. */
export interface ParkedEmail {
  readonly job_id: string;
  readonly lane: string;
  readonly priority: Priority;
  readonly workspace_id: string;
  readonly email: string;
  readonly mode: KeyMode;
  readonly from_domain: string;
  readonly api_key_id: string | null;
  readonly tags: readonly string[];
}

/** The next parked email, and where the page after it begins; null at the end. */
export interface ParkedPage {
  readonly emails: readonly ParkedEmail[];
  readonly last: string | null;
}

/** Returns the next parked email after a job, in the order of the primary key. */
export async function parkedAfter(sql: Sql, after: string, count: number): Promise<ParkedPage> {
  return parkedPage(
    sql,
    sql`
      select job_id, lane, priority, workspace_id, message_id, recipient_id from parked_deliveries
      where job_id > ${after}::uuid order by job_id limit ${count}`,
  );
}

/**
 * Returns the next parked email of a workspace after a job. Served by parked_deliveries_turn, with one step per lane and
 * priority.
 */
export async function parkedOfWorkspace(
  sql: Sql,
  workspace_id: string,
  after: string,
  count: number,
): Promise<ParkedPage> {
  return parkedPage(
    sql,
    sql`
      select x.* from lanes l
      cross join unnest(enum_range(null::mail_priority)) as v (priority)
      cross join lateral (
        select p.job_id, p.lane, p.priority, p.workspace_id, p.message_id, p.recipient_id from parked_deliveries p
        where p.lane = l.lane and p.priority = v.priority and p.workspace_id = ${workspace_id} and p.job_id > ${after}::uuid
        order by p.job_id limit ${count}
      ) x
      order by x.job_id limit ${count}`,
  );
}

async function parkedPage(sql: Sql, page: Fragment): Promise<ParkedPage> {
  const rows = await sql<(ParkedEmail & { is_whole: boolean })[]>`
    select p.job_id, p.lane, p.priority, p.workspace_id, r.email, m.mode, m.from_domain, m.api_key_id, m.tags,
      r.email is not null and m.mode is not null as is_whole
    from (${page}) p
    left join lateral (select x.email from recipients x where x.workspace_id = p.workspace_id
      and x.message_id = p.message_id and x.id = p.recipient_id ${fence}) r on true
    left join lateral (select x.mode, x.from_domain, x.api_key_id, x.tags from messages x
      where x.workspace_id = p.workspace_id and x.id = p.message_id ${fence}) m on true
    order by p.job_id`;
  // Rows of deleted messages are left to the one that resumes them.
  return { emails: rows.filter(({ is_whole }) => is_whole), last: rows.at(-1)?.job_id ?? null };
}

/** Moves parked email to other lanes, unless a worker has taken it meanwhile. */
export async function moveParked(
  sql: Sql,
  moves: readonly { readonly job_id: string; readonly from: string; readonly to: string }[],
): Promise<void> {
  if (moves.length === 0) return;
  const sorted = moves.toSorted((left, right) => (left.job_id < right.job_id ? -1 : 1));
  await retryingDeadlock(
    () => sql`
    with asked as materialized (
      select * from unnest(
        ${sorted.map(({ job_id }) => job_id)}::uuid[],
        ${sorted.map(({ from }) => from)}::text[],
        ${sorted.map(({ to }) => to)}::text[]
      ) as a (job_id, lane_before, lane)
    ),
    tended as (
      insert into lanes (lane, tended_at)
      select a.lane, clock_now() from (select distinct lane from asked) a order by a.lane
      on conflict (lane) do nothing
    ),
    locked as materialized (
      select p.job_id, a.lane from asked a join parked_deliveries p on p.job_id = a.job_id and p.lane = a.lane_before
      order by p.job_id for update of p skip locked
    )
    update parked_deliveries p set lane = l.lane from locked l where p.job_id = l.job_id`,
  );
}

/** Deletes parked jobs of closed recipients so that no lane counts them. */
export async function dropParked(tx: Tx, job_ids: readonly string[]): Promise<void> {
  if (job_ids.length === 0) return;
  await tx`
    delete from parked_deliveries d where d.job_id = any (array(
      select p.job_id from unnest(${[...job_ids]}::uuid[]) as a (job_id)
      cross join lateral (select x.job_id from parked_deliveries x where x.job_id = a.job_id ${fence}) p
      order by p.job_id
    ))`;
}

/**
 * Requeues up to `count` parked messages of a lane, by priority and then by workspace; returns how many were requeued.
 */
export async function unparkDeliveries({ sql, jobs }: Database, lane: string, count: number): Promise<number> {
  const insertion = jobs.insertion(
    sql,
    'delivery.attempt',
    sql`
      select t.job_id as id, jsonb_build_object('workspace_id', t.workspace_id, 'message_id', t.message_id,
        'recipient_id', t.recipient_id) as data, null::timestamptz as start_after,
        ${jobPriorityOf(sql, sql`t.priority`)} as priority
      from taken t`,
  );
  const rows = await sql`
    with picked as materialized (
      select job_id from parked_deliveries where lane = ${lane}
      order by priority, workspace_id, due_at, job_id limit ${count} for update skip locked
    ),
    taken as (
      delete from parked_deliveries d where d.job_id = any (array(select job_id from picked))
      returning d.job_id, d.priority, d.workspace_id, d.message_id, d.recipient_id
    ),
    added as (${insertion})
    select job_id from taken`;
  return rows.length;
}
