import { randomUUID } from 'node:crypto';
import type { Services } from '../context.ts';
import { parkedJobs, unparkDeliveries, untendedLanes } from '../lanes/index.ts';
import { lockOrphans, type Overdue, overdueRecipients, rememberJobs } from './store.ts';

// Longer than the lease and pg-boss's own rescue after a lost heartbeat: whoever is found later was forgotten.
const OVERDUE_SECONDS = 60;
// Every worker looks after the parked mail of all lanes each second.
const UNTENDED_SECONDS = 60;
const PAGE = 1000;
// A line of a hundred thousand that are late but not forgotten is walked in a second or two; the next run
// begins at the front again, and the line is shorter by then.
const MOST_PAGES = 100;

/**
 * Finds open recipients that are overdue, have no live job and are not parked, and gives them one; and mail that is
 * parked in an open lane without a worker to look after it. In steady state there
 * are none: each rescue is logged as an alarm. Two at once skip each other's rows.
 */
export async function reconcileDeliveries(services: Services): Promise<number> {
  let rescued = await rescueParked(services);
  let last: Overdue | null = null;
  for (let page = 0; page < MOST_PAGES; page++) {
    const overdue: Overdue[] = await overdueRecipients(services.sql, OVERDUE_SECONDS, last, PAGE);
    rescued += await rescueOrphans(services, overdue);
    last = overdue.at(-1) ?? null;
    if (overdue.length < PAGE) break;
  }
  if (rescued > 0) {
    services.log.error({ rescued }, 'open recipients had no live job and were given one');
    services.jobs.wake('delivery.attempt');
  }
  return rescued;
}

async function rescueParked(services: Services): Promise<number> {
  let rescued = 0;
  for (const lane of await untendedLanes(services.sql, UNTENDED_SECONDS)) {
    rescued += await unparkDeliveries(services, lane, PAGE);
  }
  return rescued;
}

async function rescueOrphans(services: Services, overdue: readonly Overdue[]): Promise<number> {
  const known = overdue.flatMap((row) => (row.job_id === null || row.parked ? [] : [row.job_id]));
  const lost = await lostJobs(services, known);
  const orphans = overdue.filter((row) => !row.parked && (row.job_id === null || lost.has(row.job_id)));
  if (orphans.length === 0) return 0;
  return services.sql.begin(async (tx) => {
    const found = await lockOrphans(tx, orphans);
    const jobs = found.map((key) => ({ ...key, job_id: randomUUID() }));
    await rememberJobs(tx, jobs);
    await services.jobs.send(
      tx,
      'delivery.attempt',
      jobs.map(({ job_id, ...data }) => ({ id: job_id, data })),
    );
    return jobs.length;
  });
}

/** Those that neither live nor are parked. A job may go from one to the other between two looks, but not twice. */
async function lostJobs(services: Services, job_ids: readonly string[]): Promise<Set<string>> {
  const { sql, jobs } = services;
  const gone = await jobs.withoutLiveJob(sql, 'delivery.attempt', job_ids);
  if (gone.length === 0) return new Set();
  const parked = await parkedJobs(sql, gone);
  const missing = gone.filter((id) => !parked.has(id));
  return new Set(await jobs.withoutLiveJob(sql, 'delivery.attempt', missing));
}
