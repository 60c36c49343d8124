import { randomUUID } from 'node:crypto';
import type { Services } from '../context.ts';
import { lockOrphans, type Overdue, overdueRecipients, rememberJobs } from './store.ts';

// Longer than the lease and pg-boss's own rescue after a lost heartbeat: whoever is found later was forgotten.
const OVERDUE_SECONDS = 60;
const PAGE = 1000;
// A line of a hundred thousand that are late but not forgotten is walked in a second or two; the next run
// begins at the front again, and the line is shorter by then.
const MOST_PAGES = 100;

/**
 * Finds open recipients that are overdue and have no live job, and gives them one. In steady state there
 * are none: each rescue is logged as an alarm. Two at once skip each other's rows.
 */
export async function reconcileDeliveries(services: Services): Promise<number> {
  let rescued = 0;
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

async function rescueOrphans(services: Services, overdue: readonly Overdue[]): Promise<number> {
  const known = overdue.flatMap((row) => (row.job_id === null ? [] : [row.job_id]));
  const gone = new Set(await services.jobs.withoutLiveJob(services.sql, 'delivery.attempt', known));
  const orphans = overdue.filter((row) => row.job_id === null || gone.has(row.job_id));
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
