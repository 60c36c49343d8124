import { fence, type RecordField, recordsIn, recordTexts, type Sql, uuidOfId } from '@postrider/db';
import { jobPriorities } from '../priorities/index.ts';
import type { Jobs } from '../process/jobs.ts';
import { stillSuppressed } from '../suppressions/index.ts';
import {
  appendValues,
  bodyColumns,
  fragmentsOf,
  messageColumns,
  recipientColumns,
  recordColumns,
  tagRows,
} from './columns-store.ts';
import type { NewMessage } from './new-message.ts';

/** The rate window of a key, or of a workspace whose plan limits all its keys together. */
export interface FastWindow {
  readonly rate_class: 'send' | 'workspace';
  readonly subject: string;
  readonly wanted: number;
  readonly allowance: number;
}

/** Messages judged from the admission cache, with the conditions that must hold when they are stored. */
export interface FastBatch {
  readonly epoch: number;
  /** The earliest expiry among the keys. */
  readonly good_until: Date | null;
  /** In lock order. */
  readonly windows: readonly FastWindow[];
  readonly messages: readonly NewMessage[];
  /** Whether the commit itself wakes the workers of other processes. */
  readonly wakes: boolean;
}

export interface StoredFast {
  readonly now: Date;
  /** Requests in this minute, including those of the batch, by key or workspace. */
  readonly used: ReadonlyMap<string, number>;
  readonly reset_unix: number;
  readonly seconds_left: number;
}

/**
 * Admits and stores a batch in one statement, which is its own transaction. It counts the windows and the volume, and
 * raises PR002, which rolls everything back, unless the epoch is unchanged, no key has expired, every count is within
 * its limit, and no recipient is suppressed. Every message is queued, has a recipient, and claims no idempotency key.
 * Counters are locked windows first, each group sorted, so that batches cannot deadlock. Times are computed wherever
 * they are needed, because a CTE for them costs more.
 */
export async function storeFast(sql: Sql, jobs: Jobs, batch: FastBatch): Promise<StoredFast> {
  const { messages } = batch;
  const windows = batch.windows.map(({ rate_class, subject, wanted: amount, allowance }) => [
    uuidOfId(subject),
    rate_class,
    amount,
    allowance,
  ]);
  const spendings = spendingsOf(messages);
  const message = fragmentsOf(sql, messageColumns);
  const body = fragmentsOf(sql, bodyColumns);
  const recipient = fragmentsOf(sql, recipientColumns);
  const [row] = await sql<
    { now: Date; reset_unix: number; seconds_left: number; subjects: string[]; used: number[] }[]
  >`
    with counted as (
      insert into rate_windows as r (subject, class, minute, used, allowance, wrote_at)
      select subject, class, date_trunc('minute', clock_now()), wanted::int, allowance::int, clock_now()
      from ${recordsIn(sql, recordTexts(windows), WINDOW_COLUMNS)} as asked
      on conflict (subject, class, minute) do update
        set used = r.used + excluded.used, allowance = excluded.allowance, wrote_at = excluded.wrote_at
      returning subject, used, used <= allowance as fits
    ),
    spent as (
      insert into usage_months as u (workspace_id, month, used, monthly_limit, by_day)
      select workspace_id, date_trunc('month', clock_now() at time zone 'UTC')::date, count::bigint,
        monthly_limit::bigint,
        (select array_fill(0::bigint, array[extract(day from clock_now() at time zone 'UTC')::int - 1]))
          || count::bigint
          || (select array_fill(0::bigint, array[31 - extract(day from clock_now() at time zone 'UTC')::int]))
      from ${recordsIn(sql, recordTexts(spendings), SPENDING_COLUMNS)} as spending
      on conflict (workspace_id, month) do update set
        used = u.used + excluded.used,
        monthly_limit = excluded.monthly_limit,
        by_day[extract(day from clock_now() at time zone 'UTC')::int] =
          u.by_day[extract(day from clock_now() at time zone 'UTC')::int] + excluded.used
      returning coalesce(used <= monthly_limit, true) as fits
    ),
    batch as materialized (
      select * from ${recordsIn(sql, messageRecords(messages), MESSAGE_RECORD)} as records
    ),
    people as materialized (
      select * from ${recordsIn(sql, recipientRecords(messages), RECIPIENT_RECORD)} as records
    ),
    m as (
      insert into messages (${message.names}, status, created_at, event_count, last_event_type, last_event_at)
      select ${message.values}, 'queued',
        date_trunc('milliseconds', clock_now()), 1, 'email.queued', date_trunc('milliseconds', clock_now())
      from batch
      where case when (
            select value = ${batch.epoch}::bigint
              and clock_now() < coalesce(${batch.good_until}::timestamptz, 'infinity')
            from accept_epoch
          )
          and (select bool_and(fits) from counted)
          and (select coalesce(bool_and(fits), true) from spent)
          and not exists (
            select from people p
            cross join lateral (
              select expires_at from suppressions x
              where x.workspace_id = p.workspace_id and x.email = suppression_key(p.email) ${fence}
            ) s
            where ${stillSuppressed(sql)}
          )
        then true else raise_not_fast() end
    ),
    b as (
      insert into bodies (workspace_id, message_id, ${body.names})
      select workspace_id, id, ${body.values} from batch
    ),
    r as (
      insert into recipients (workspace_id, message_id, ${recipient.names}, state, due_at)
      select workspace_id, message_id, ${recipient.values}, 'queued', date_trunc('milliseconds', clock_now())
      from people
    ),
    t as (
      insert into message_tags (tag_id, message_id)
      ${tagRows(sql, sql`select workspace_id, tag, id as message_id from batch cross join unnest(tags) as tag`)}
    ),
    e as (
      insert into events (workspace_id, id, type, message_id, sequence, facts, created_at)
      select workspace_id, event_id, 'email.queued', id, 1, '{}', date_trunc('milliseconds', clock_now())
      from batch
    ),
    j as (
      ${jobs.insertion(
        sql,
        'delivery.attempt',
        sql`select job_id as id, null::timestamptz as start_after, job_priority::int as priority,
          jsonb_build_object('workspace_id', workspace_id, 'message_id', message_id, 'recipient_id', id) as data
          from people`,
      )}
    )
    select date_trunc('milliseconds', clock_now()) as now,
      extract(epoch from date_trunc('minute', clock_now()))::int + 60 as reset_unix,
      extract(epoch from date_trunc('minute', clock_now()) + interval '1 minute' - clock_now())::float8 as seconds_left,
      array_agg(subject) as subjects, array_agg(used) as used,
      case when ${batch.wakes}::bool then ${jobs.wakeOnCommit(sql, 'delivery.attempt')} end as woken
    from counted`;
  if (!row) throw new Error('a batch was stored without an answer');
  const { now, reset_unix, seconds_left, subjects, used } = row;
  return {
    now,
    reset_unix,
    seconds_left,
    used: new Map(subjects.map((subject, index) => [subject, used[index] ?? 0])),
  };
}

function spendingsOf(messages: readonly NewMessage[]) {
  const spendings = new Map<string, { count: number; monthly_limit: number | null }>();
  for (const { workspace_id, counted: recipient_count, monthly_limit } of messages) {
    if (recipient_count === 0) continue;
    const spending = spendings.get(workspace_id);
    if (spending) spending.count += recipient_count;
    else spendings.set(workspace_id, { count: recipient_count, monthly_limit });
  }
  return [...spendings]
    .sort(([left], [right]) => (left < right ? -1 : 1))
    .map(([workspace_id, { count, monthly_limit }]) => [uuidOfId(workspace_id), count, monthly_limit]);
}

const WINDOW_COLUMNS = ['subject::uuid', 'class', 'wanted', 'allowance'] as const;
const SPENDING_COLUMNS = ['workspace_id::uuid', 'count', 'monthly_limit'] as const;

const MESSAGE_COLUMNS = [...messageColumns, ...bodyColumns];
const MESSAGE_RECORD = recordColumns(['event_id::uuid'], MESSAGE_COLUMNS);

function messageRecords(messages: readonly NewMessage[]): string {
  return recordTexts(messages.map((message) => appendValues([uuidOfId(message.event_id)], MESSAGE_COLUMNS, message)));
}

const RECIPIENT_RECORD = recordColumns(['workspace_id::uuid', 'message_id::uuid', 'job_priority'], recipientColumns);

function recipientRecords(messages: readonly NewMessage[]): string {
  const records: RecordField[][] = [];
  for (const { workspace_id, id, priority, recipients } of messages) {
    const [workspace, message, job_priority] = [uuidOfId(workspace_id), uuidOfId(id), jobPriorities[priority]];
    for (const recipient of recipients)
      records.push(appendValues([workspace, message, job_priority], recipientColumns, recipient));
  }
  return recordTexts(records);
}
