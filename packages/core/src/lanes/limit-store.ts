import type { Sql, Tx } from '@postrider/db';

export interface DestinationLimit {
  readonly destination: string;
  readonly connections: number | null;
  readonly messages_per_minute: number | null;
}

export async function destinationLimits(sql: Sql | Tx): Promise<DestinationLimit[]> {
  return sql<DestinationLimit[]>`
    select destination, connections, messages_per_minute from destination_limits order by destination`;
}

export async function destinationLimit(tx: Tx, destination: string): Promise<DestinationLimit | null> {
  const [row] = await tx<DestinationLimit[]>`
    select destination, connections, messages_per_minute from destination_limits
    where destination = ${destination} for update`;
  return row ?? null;
}

/**
 * Takes tokens from limited destinations for the current minute and returns how many each destination was granted;
 * destinations without a limit are omitted. A destination that was granted fewer than requested closes until the next
 * minute. All workers share one row per destination and minute, so together they never exceed the limit.
 */
export async function countAgainstLimits(
  sql: Sql,
  requests: readonly { readonly destination: string; readonly count: number }[],
): Promise<Map<string, number>> {
  const rows = await sql<{ destination: string; granted: number }[]>`
    with asked as materialized (
      select a.destination, a.count, l.messages_per_minute as most
      from unnest(
        ${requests.map(({ destination }) => destination)}::text[],
        ${requests.map(({ count }) => count)}::int[]
      ) as a (destination, count)
      join destination_limits l on l.destination = a.destination and l.messages_per_minute is not null
    ),
    counted as (
      insert into destination_minutes as m (destination, minute, used)
      select destination, date_trunc('minute', clock_now()), count from asked order by destination
      on conflict (destination, minute) do update set used = m.used + excluded.used
      returning destination, used
    ),
    granted as materialized (
      select a.destination, a.count, greatest(0, least(a.count, a.most - (c.used - a.count))) as granted
      from asked a join counted c on c.destination = a.destination
    ),
    closed as (
      insert into lanes as l (lane, closed_until, reason, tended_at)
      select destination, date_trunc('minute', clock_now()) + interval '1 minute', 'limit', clock_now()
      from granted where granted < count order by destination
      on conflict (lane) do update set closed_until = excluded.closed_until, reason = excluded.reason
      where l.closed_until is null or l.closed_until < excluded.closed_until
    )
    select destination, granted from granted`;
  return new Map(rows.map((row) => [row.destination, row.granted]));
}

/** Stores a limit. In the current minute, only messages that were sent count against it. */
export async function putDestinationLimit(tx: Tx, limit: DestinationLimit): Promise<void> {
  await settleMinute(tx, limit.destination);
  await tx`
    insert into destination_limits as l (destination, connections, messages_per_minute, changed_at)
    values (${limit.destination}, ${limit.connections}, ${limit.messages_per_minute}, clock_now())
    on conflict (destination) do update set connections = excluded.connections,
      messages_per_minute = excluded.messages_per_minute, changed_at = excluded.changed_at`;
}

export async function dropDestinationLimit(tx: Tx, destination: string): Promise<boolean> {
  await settleMinute(tx, destination);
  const rows = await tx`delete from destination_limits where destination = ${destination} returning destination`;
  return rows.length > 0;
}

/** Reopens a destination that its previous limit closed, and stops counting the messages that were over that limit. */
async function settleMinute(tx: Tx, destination: string): Promise<void> {
  await tx`
    update destination_minutes m set used = least(m.used, l.messages_per_minute)
    from destination_limits l where l.destination = m.destination and m.destination = ${destination}`;
  await tx`
    update lanes set closed_until = null, reason = null where lane = ${destination} and reason = 'limit'`;
}
