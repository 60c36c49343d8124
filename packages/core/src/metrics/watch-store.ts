import type { Sql, Tx } from '@postrider/db';

// Held for the duration of a transaction, so that two processes never read or judge at the same time.
const WATCH_LOCK = 712_448_061;

/** The facts that a process records about itself with each heartbeat. */
export interface ProcessNote {
  readonly id: string;
  readonly roles: readonly string[];
  readonly host: string;
  readonly now_ms: number;
  readonly pool_waiting: number;
}

/** Records a heartbeat of a process and deletes processes not heard from for a day. */
export async function noteProcess(sql: Sql | Tx, note: ProcessNote): Promise<void> {
  await sql`
    with forgotten as (delete from processes where noted_at < clock_now() - interval '1 day')
    insert into processes (id, roles, host, noted_at, clock_skew_seconds, pool_waiting)
    values (${note.id}, ${[...note.roles]}::text[], ${note.host}, clock_now(),
      ${note.now_ms / 1000}::float8 - extract(epoch from clock_now())::float8, ${note.pool_waiting})
    on conflict (id) do update set roles = excluded.roles, noted_at = excluded.noted_at,
      clock_skew_seconds = excluded.clock_skew_seconds, pool_waiting = excluded.pool_waiting`;
}

export async function forgetProcess(sql: Sql, id: string): Promise<void> {
  await sql`delete from processes where id = ${id}`;
  await sql`delete from instance_watch where holder = ${id}`;
}

/**
 * Acquires or renews the lease on collecting instance metrics. Returns true if this process now holds it; false while
 * another process holds it or is taking its turn.
 */
export async function takeWatch(tx: Tx, id: string, seconds: number): Promise<boolean> {
  const [lock] = await tx<{ taken: boolean }[]>`select pg_try_advisory_xact_lock(${WATCH_LOCK}) as taken`;
  if (!lock?.taken) return false;
  const rows = await tx`
    insert into instance_watch as w (holder, until) values (${id}, clock_now() + make_interval(secs => ${seconds}))
    on conflict (only_row) do update set holder = excluded.holder, until = excluded.until
      where w.holder = excluded.holder or w.until <= clock_now()
    returning holder`;
  return rows.length > 0;
}
