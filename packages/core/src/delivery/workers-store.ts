import type { Fragment, Sql, Tx } from '@postrider/db';

/** A worker that has not said for so long that it is there counts as gone. */
const GONE_SECONDS = 30;

/** A worker tells that it is there and how fast it is; or, at its end, that it is not. */
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

export async function forgetDeliveryWorkers(sql: Sql): Promise<void> {
  await sql`delete from delivery_workers where noted_at < clock_now() - interval '1 day'`;
}

/** Which workers are there, as a condition on delivery_workers w. */
export function isThere(sql: Sql | Tx): Fragment {
  return sql`not w.stopped and w.noted_at > clock_now() - make_interval(secs => ${GONE_SECONDS})`;
}
