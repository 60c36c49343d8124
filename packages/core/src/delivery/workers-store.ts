import type { Fragment, Sql, Tx } from '@postrider/db';

/** A worker without a heartbeat for this long counts as gone. */
const GONE_SECONDS = 30;

/** Records the heartbeat and speed of a worker, or its end. */
export async function noteWorker(
  sql: Sql,
  note: { readonly worker: string; readonly stopped: boolean; readonly ended_per_minute: number },
): Promise<void> {
  await sql`
    insert into delivery_workers (worker, noted_at, stopped, ended_per_minute)
    values (${note.worker}, clock_now(), ${note.stopped}, ${note.ended_per_minute})
    on conflict (worker) do update set noted_at = excluded.noted_at, stopped = excluded.stopped,
      ended_per_minute = excluded.ended_per_minute`;
}

export async function forgetDeliveryWorkers(sql: Sql | Tx): Promise<void> {
  await sql`delete from delivery_workers where noted_at < clock_now() - interval '1 day'`;
}

/** Live workers, as a condition on delivery_workers w. */
export function isThere(sql: Sql | Tx): Fragment {
  return sql`not w.stopped and w.noted_at > clock_now() - make_interval(secs => ${GONE_SECONDS})`;
}
