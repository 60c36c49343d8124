import type { Fragment, Sql, Tx } from '@postrider/db';
import type { Services } from '../operation/context.ts';
import type { DeliveryJob } from './jobs-store.ts';
import { isRecipientUnpruned } from './store.ts';

/** A worker is listed as live for this long after its last heartbeat. */
const LISTED_AS_LIVE_SECONDS = 10;
/** A dead worker's statement may commit this long after its last heartbeat. */
const LATE_COMMIT_SECONDS = 60;
/**
 * A dead worker's last statement began at most this long after its last heartbeat. A job with a later heartbeat has a
 * live worker that cannot report it.
 */
const LAST_STATEMENT_SECONDS = 5;
/** Other queues that a worker runs. */
const RUN_QUEUES = ['bulk.run', 'domain.cancel_mail', 'webhook.recover', 'webhook.close'] as const;

/**
 * Records the heartbeat of a worker, or its end, with its rate and its database connection. Returns the workers that
 * have been silent for this long and whose connection has ended: a worker that is only suspended still has its
 * connection, and a worker whose connection broke sends heartbeats on another.
 */
export async function noteWorker(
  sql: Sql,
  note: { readonly worker: string; readonly stopped: boolean; readonly ended_per_minute: number },
  silence_ms: number,
): Promise<string[]> {
  const rows = await sql<{ worker: string }[]>`
    with noted as (
      insert into delivery_workers (worker, noted_at, stopped, ended_per_minute, backend, backend_started_at)
      select ${note.worker}::uuid, clock_now(), ${note.stopped}, ${note.ended_per_minute}, a.pid, a.backend_start
      from pg_stat_get_activity(pg_backend_pid()) a
      on conflict (worker) do update set noted_at = excluded.noted_at, stopped = excluded.stopped,
        ended_per_minute = excluded.ended_per_minute, backend = excluded.backend,
        backend_started_at = excluded.backend_started_at
    )
    select w.worker from delivery_workers w
    where not w.stopped and w.worker <> ${note.worker}::uuid
      and w.noted_at < clock_now() - make_interval(secs => ${silence_ms / 1000})
      and ${isCutOff(sql)}
    order by w.worker`;
  return rows.map(({ worker }) => worker);
}

/**
 * Frees the jobs of a dead worker. Other workers take over unclaimed messages immediately, and claimed ones once their
 * lease expires: a live worker that is only cut off from the database may still be sending them. Returns the number of
 * emails to the one caller that wins. Returns null to the other callers, or if the worker has sent a heartbeat again.
 */
export async function freeWorker(
  { sql, jobs }: Pick<Services, 'sql' | 'jobs'>,
  worker: string,
  silence_ms: number,
): Promise<number | null> {
  return sql.begin(async (tx) => {
    const [dead] = await tx`
      update delivery_workers set stopped = true
      where worker = ${worker}::uuid and not stopped and noted_at < clock_now() - make_interval(secs => ${silence_ms / 1000})
      returning worker`;
    if (!dead) return null;
    const deliveries = await jobs.free(tx, 'delivery.attempt', worker);
    const calls = await jobs.free(tx, 'webhook.deliver', worker);
    await tx`
      update endpoint_leases set held_until = clock_now()
      where webhook_id = any (${calls.map(({ data }) => data.webhook_id).sort()}::uuid[]) and held_until > clock_now()`;
    for (const name of RUN_QUEUES) await jobs.free(tx, name, worker);
    return deliveries.length;
  });
}

/**
 * Frees the jobs that ended workers still hold, and returns the number of emails. A statement of an ended worker may
 * commit after its emails were freed, and rows that the statement had locked were skipped.
 */
export async function freeLeftovers({ sql, jobs }: Pick<Services, 'sql' | 'jobs'>): Promise<number> {
  const workers = await sql<{ worker: string }[]>`
    select w.worker from delivery_workers w where ${isEnded(sql)} order by w.worker`;
  let count = 0;
  for (const { worker } of workers) count += await sql.begin((tx) => freeLeftoversOf(tx, jobs, worker));
  return count;
}

async function freeLeftoversOf(tx: Tx, jobs: Services['jobs'], worker: string): Promise<number> {
  // Checked again under the row lock: the worker may have come back.
  const [dead_worker] = await tx<{ seen_until: Date }[]>`
    select noted_at + make_interval(secs => ${LAST_STATEMENT_SECONDS}) as seen_until
    from delivery_workers w where w.worker = ${worker}::uuid and ${isEnded(tx)} for update`;
  if (!dead_worker) return 0;
  const deliveries = await jobs.free(tx, 'delivery.attempt', worker, dead_worker.seen_until);
  // The lease of an endpoint may belong to another worker by now; it expires on its own within seconds.
  for (const name of ['webhook.deliver', ...RUN_QUEUES] as const)
    await jobs.free(tx, name, worker, dead_worker.seen_until);
  return deliveries.length;
}

/**
 * Frees the emails that this worker holds in the database but does not know about, because the response to a fetch or a
 * claim was lost. Returns their number. `known` is called inside the transaction, which may have waited for a
 * connection.
 */
export async function freeUnknownMail(
  { sql, jobs }: Pick<Services, 'sql' | 'jobs'>,
  known: () => readonly string[],
  seconds: number,
): Promise<number> {
  return sql.begin(async (tx) => {
    const deliveries = await jobs.freeUnknown(tx, 'delivery.attempt', known, seconds);
    await endLeases(tx, deliveries);
    return deliveries.length;
  });
}

/** Ends the leases of claims whose jobs were freed. A superseded job leaves its successor's claim alone. */
async function endLeases(tx: Tx, freed: readonly Pick<DeliveryJob, 'id' | 'data'>[]): Promise<void> {
  const unordered = freed.map(({ id, data }) => ({ ...data, job_id: id }));
  const keys = unordered.toSorted((left, right) =>
    left.message_id + left.recipient_id < right.message_id + right.recipient_id ? -1 : 1,
  );
  await tx`
    with held as materialized (
      select r.workspace_id, r.message_id, r.id from unnest(
        ${keys.map((key) => key.workspace_id)}::uuid[],
        ${keys.map((key) => key.message_id)}::uuid[],
        ${keys.map((key) => key.recipient_id)}::uuid[],
        ${keys.map((key) => key.job_id)}::uuid[]
      ) as a (workspace_id, message_id, recipient_id, job_id)
      cross join lateral (
        select r.workspace_id, r.message_id, r.id from recipients r
        where ${isRecipientUnpruned(tx, 'a')}
          and r.job_id = a.job_id and r.state = 'sending' and r.lease_until > clock_now()
        for no key update
      ) r
    )
    update recipients r set lease_until = clock_now() - interval '1 millisecond' from held h
    where r.message_id >= h.message_id and r.message_id <= h.message_id and r.id = h.id
      and r.workspace_id = h.workspace_id`;
}

export async function forgetDeliveryWorkers(sql: Sql | Tx): Promise<void> {
  await sql`delete from delivery_workers where noted_at < clock_now() - interval '1 day'`;
}

/** Returns the condition on delivery_workers w for workers that ended recently. */
function isEnded(sql: Sql | Tx): Fragment {
  return sql`w.stopped and w.noted_at > clock_now() - make_interval(secs => ${LATE_COMMIT_SECONDS}) and ${isCutOff(sql)}`;
}

/** Returns the condition on delivery_workers w for workers whose connection at the last heartbeat has ended. */
function isCutOff(sql: Sql | Tx): Fragment {
  return sql`not exists (
    select from pg_stat_get_activity(w.backend) a where a.backend_start = w.backend_started_at
  )`;
}

/** Returns the condition on delivery_workers w for live workers. */
export function isThere(sql: Sql | Tx): Fragment {
  return sql`not w.stopped and w.noted_at > clock_now() - make_interval(secs => ${LISTED_AS_LIVE_SECONDS})`;
}

export async function countWorkers(sql: Sql): Promise<number> {
  const [row] = await sql<
    { count: number }[]
  >`select count(*)::int as count from delivery_workers w where ${isThere(sql)}`;
  return row?.count ?? 0;
}
