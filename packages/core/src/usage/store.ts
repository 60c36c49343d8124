import type { Fragment, Sql, Tx } from '@postrider/db';
import type { WindowCount } from '../operation/ports.ts';
import { ADDRESS_LIMIT, type RateClass, SESSION_LIMIT } from './rate-window.ts';

interface CountedRow {
  used: number;
  reset_unix: number;
  seconds_left: number;
}

/** Counts one request from a network, as named by addressSubject, in the current minute, in one statement. */
export async function countAddress(sql: Sql | Tx, subject: string): Promise<WindowCount> {
  const [row] = await counting(sql, sql`md5(${subject})::uuid`, 'address', 1);
  if (!row) throw new Error('an address was not counted');
  return windowCountOf(row, ADDRESS_LIMIT);
}

/** Counts the calls in one request of a session; the returned position is the last call's. */
export async function countSession(sql: Sql, session_id: string, calls: number): Promise<WindowCount> {
  const [row] = await counting(sql, sql`${session_id}::uuid`, 'session', calls);
  if (!row) throw new Error('a session was not counted');
  return windowCountOf(row, SESSION_LIMIT);
}

/**
 * Counts a send in its key's window. Sends by all signed-in users of a workspace count in one separate window, with the
 * limit of one key.
 */
export async function countSend(
  sql: Sql,
  { workspace_id, key_id }: { readonly workspace_id: string; readonly key_id?: string },
): Promise<WindowCount> {
  const [row] = await sql<(CountedRow & { send_per_minute: number })[]>`
    with counted as (${counting(sql, sql`${key_id ?? workspace_id}::uuid`, 'send', 1)})
    select c.*, p.send_per_minute from counted c, workspaces w join plans p on p.name = w.plan
    where w.id = ${workspace_id}`;
  if (!row) throw new Error('an actor belongs to no workspace');
  return windowCountOf(row, row.send_per_minute);
}

function counting(sql: Sql | Tx, subject: Fragment, rateClass: RateClass, count: number) {
  return sql<CountedRow[]>`
    insert into rate_windows as r (subject, class, minute, used, wrote_at)
    values (${subject}, ${rateClass}, date_trunc('minute', clock_now()), ${count},
      case when ${rateClass === 'send'} then clock_now() end)
    on conflict (subject, class, minute) do update set used = r.used + excluded.used, wrote_at = excluded.wrote_at
    returning used,
      extract(epoch from minute)::int + 60 as reset_unix,
      extract(epoch from minute + interval '1 minute' - clock_now())::float8 as seconds_left`;
}

function windowCountOf({ used, reset_unix, seconds_left }: CountedRow, limit: number): WindowCount {
  return { limit, place: used, reset_unix, seconds_left };
}

/** Deletes windows that no Retry-After or reset header can still refer to. */
export async function forgetRateWindows(sql: Sql | Tx): Promise<void> {
  await sql`delete from rate_windows where minute < clock_now() - interval '10 minutes'`;
}

/** Returns the workspace's usage this month, with the limit of its plan. */
export async function monthUsage(
  sql: Sql | Tx,
  workspace_id: string,
): Promise<{ now: Date; used: number; by_day: number[]; limit: number | null }> {
  const [row] = await sql<{ now: Date; used: number; by_day: number[]; limit: number | null }[]>`
    select clock_now() as now, coalesce(u.used, 0)::float8 as used, coalesce(u.by_day, '{}')::float8[] as by_day,
      p.monthly_limit as limit
    from workspaces w
    join plans p on p.name = w.plan
    left join usage_months u on u.workspace_id = w.id
      and u.month = date_trunc('month', clock_now() at time zone 'UTC')::date
    where w.id = ${workspace_id}`;
  if (!row) throw new Error('an actor belongs to no workspace');
  return row;
}

export interface MonthRow {
  readonly workspace_id: string;
  readonly month: string;
  readonly now: Date;
  readonly used: number;
  readonly by_day: readonly number[];
  readonly limit: number | null;
}

/**
 * Returns the usage in a month, such as 2030-01. A past month has the limit that applied when its last message was
 * accepted.
 */
export async function readMonthRows(
  sql: Sql,
  workspace_ids: readonly string[],
  month: string | null,
): Promise<MonthRow[]> {
  return sql<MonthRow[]>`
    select w.id as workspace_id, to_char(a.month, 'YYYY-MM') as month, clock_now() as now,
      coalesce(u.used, 0)::float8 as used, coalesce(u.by_day, '{}')::float8[] as by_day,
      (case when u.month < date_trunc('month', clock_now() at time zone 'UTC') then u.monthly_limit
        else p.monthly_limit end)::float8 as limit
    from workspaces w
    join plans p on p.name = w.plan
    cross join lateral (select coalesce(to_date(${month}::text, 'YYYY-MM'),
      date_trunc('month', clock_now() at time zone 'UTC')::date) as month) a
    left join usage_months u on u.workspace_id = w.id and u.month = a.month
    where w.id = any (${[...workspace_ids]}::uuid[])`;
}

/** Refunds messages to the month and day in which they were counted. */
export async function returnUsage(tx: Tx, workspace_id: string, counted_at: Date, count: number): Promise<void> {
  await tx`
    update usage_months set
      used = greatest(0, used - ${count}::bigint),
      by_day[extract(day from ${counted_at}::timestamptz at time zone 'UTC')::int] = greatest(0,
        by_day[extract(day from ${counted_at}::timestamptz at time zone 'UTC')::int] - ${count}::bigint)
    where workspace_id = ${workspace_id}
      and month = date_trunc('month', ${counted_at}::timestamptz at time zone 'UTC')::date`;
}
