import type { Sql, Tx } from '@postrider/db';
import { lanesThrough } from './lane-store.ts';

interface TransportCount {
  readonly transport_id: string;
  readonly count: number;
}

interface TransportGrant {
  readonly transport_id: string;
  readonly granted: number;
  /** The day to which an email that was not accepted is returned; null without a limit per day. */
  readonly day: Date | null;
  /** When the limit that is used up applies again; null if everything was granted. */
  readonly spent_until: Date | null;
}

interface Windows {
  readonly minute: Date;
  readonly day: Date;
}

/**
 * Counts emails against the limits of their transports, and returns how many each was granted; transports without a
 * limit are omitted. All workers share the rows, so together they never exceed a limit.
 */
export async function countEmails(sql: Sql, requests: readonly TransportCount[]): Promise<TransportGrant[]> {
  const sorted = requests.toSorted((left, right) => (left.transport_id < right.transport_id ? -1 : 1));
  const asked = (tx: Tx) => tx`
    select a.transport_id, a.count, t.messages_per_minute as per_minute, t.messages_per_day as per_day
    from unnest(
      ${sorted.map(({ transport_id }) => transport_id)}::uuid[],
      ${sorted.map(({ count }) => count)}::int[]
    ) as a (transport_id, count)
    join transports t on t.id = a.transport_id
    where t.messages_per_minute is not null or t.messages_per_day is not null`;
  return sql.begin(async (tx) => {
    // Read once, so that both statements use the same windows. They begin by the clock of the database.
    const [now] = await tx<Windows[]>`
      select date_trunc('minute', clock_now()) as minute,
        date_trunc('day', clock_now() at time zone 'UTC') at time zone 'UTC' as day`;
    if (!now) throw new Error('the database returned no time');
    // Locks the rows before they are read, so that two workers cannot be granted the same emails.
    await tx`
      insert into transport_windows as w (transport_id, unit, starts_at, used)
      select a.transport_id, u.unit, u.starts_at, 0
      from (${asked(tx)}) a cross join (values ('day', ${now.day}::timestamptz), ('minute', ${now.minute}::timestamptz))
        as u (unit, starts_at)
      order by a.transport_id, u.unit
      on conflict (transport_id, unit, starts_at) do update set used = w.used`;
    return tx<TransportGrant[]>`
      with free as materialized (
        select a.transport_id, a.count, least(
          a.count,
          greatest(0, coalesce(a.per_day - d.used, a.count)),
          greatest(0, coalesce(a.per_minute - m.used, a.count))
        ) as granted, a.per_day, a.per_day - d.used as day_left
        from (${asked(tx)}) a
        join transport_windows d on d.transport_id = a.transport_id and d.unit = 'day' and d.starts_at = ${now.day}
        join transport_windows m on m.transport_id = a.transport_id and m.unit = 'minute' and m.starts_at = ${now.minute}
      ),
      counted as (
        update transport_windows w set used = w.used + f.granted from free f
        where w.transport_id = f.transport_id and w.starts_at = case w.unit when 'day' then ${now.day}::timestamptz
          else ${now.minute}::timestamptz end
      )
      select transport_id, granted, case when per_day is not null then ${now.day}::timestamptz end as day,
        case when granted < count then
        case when day_left <= granted then ${now.day}::timestamptz + interval '24 hours'
          else ${now.minute}::timestamptz + interval '1 minute' end
      end as spent_until
      from free`;
  });
}

/** Returns emails that were granted on a day but not accepted, and reopens lanes that the limit of that day closed. */
export async function returnEmails(sql: Sql, transport_id: string, day: Date, count: number): Promise<void> {
  await sql`
    update transport_windows set used = greatest(0, used - ${count}::int)
    where transport_id = ${transport_id} and unit = 'day' and starts_at = ${day}`;
  await sql`
    update lanes set closed_until = null, reason = null
    where reason = 'transport_limit' and closed_until = ${day}::timestamptz + interval '24 hours'
      and lane like ${lanesThrough(transport_id)}`;
}

/** Reopens the lanes that the limits of a transport closed. */
export async function reopenSpentLanes(tx: Tx, transport_id: string): Promise<void> {
  await tx`
    update lanes set closed_until = null, reason = null
    where reason = 'transport_limit' and closed_until > clock_now() and lane like ${lanesThrough(transport_id)}`;
}

/** Closes lanes until a limit applies again. */
export async function closeSpentLanes(sql: Sql, lanes: readonly string[], until: Date): Promise<void> {
  if (lanes.length === 0) return;
  await sql`
    insert into lanes as l (lane, closed_until, reason, tended_at)
    select a.lane, ${until}, 'transport_limit', clock_now() from unnest(${lanes}::text[]) as a (lane) order by a.lane
    on conflict (lane) do update set closed_until = excluded.closed_until, reason = excluded.reason
    where l.closed_until is null or l.closed_until < excluded.closed_until`;
}
