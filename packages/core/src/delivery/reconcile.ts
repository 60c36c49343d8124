import { randomUUID } from 'node:crypto';
import { parkedJobs, unparkDeliveries, unsyncedLanes } from '../lanes/index.ts';
import type { Services } from '../operation/context.ts';
import { addDeliveryJobs } from './jobs-store.ts';
import { lockOrphans, type Overdue, overdueRecipients } from './reconcile-store.ts';
import { rememberJobs } from './store.ts';

// Longer than the lease and than pg-boss's rescue after a lost heartbeat.
const OVERDUE_SECONDS = 60;
// Every worker polls the parked messages of all lanes each second.
const UNSYNCED_SECONDS = 60;
const PAGE = 1000;
// Walking 100,000 recipients that are late but live takes one or two seconds.
const MAX_PAGES = 100;

/**
 * Progress across the runs of a process. More rows may be late than one run walks, such as messages parked for hours
 * behind a closed lane; so each run continues after the previous one and wraps around at the end.
 */
export interface Walk {
  after: Overdue | null;
  readonly page: number;
  readonly max_pages: number;
}

export function newWalk(page = PAGE, max_pages = MAX_PAGES): Walk {
  return { after: null, page, max_pages };
}

/**
 * Creates jobs for open recipients that are overdue, have no live job and are not parked, and for messages parked in an
 * open lane that no worker polls. In steady state there is nothing to rescue, so each rescue is logged as an error.
 * Concurrent runs skip each other's rows.
 */
export async function reconcileDeliveries(services: Services, walk: Walk = newWalk()): Promise<number> {
  let rescued = await rescueParked(services);
  for (let count = 0; count < walk.max_pages; count++) {
    const overdue = await overdueRecipients(services.sql, OVERDUE_SECONDS, walk.after, walk.page);
    rescued += await rescueOrphans(services, overdue);
    walk.after = overdue.length < walk.page ? null : (overdue.at(-1) ?? null);
    if (walk.after === null) break;
  }
  if (rescued > 0) {
    services.metrics.shift('invariant_violations', ['delivery_without_job'], rescued);
    services.log.error({ rescued }, 'rescheduled open recipients that had no live job');
    services.jobs.wakeAll('delivery.attempt');
  }
  return rescued;
}

async function rescueParked(services: Services): Promise<number> {
  let rescued = 0;
  for (const lane of await unsyncedLanes(services.sql, UNSYNCED_SECONDS)) {
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
    const keys = await lockOrphans(tx, orphans);
    const jobs = keys.map((key) => ({ ...key, job_id: randomUUID() }));
    await rememberJobs(tx, jobs);
    await addDeliveryJobs(tx, services.jobs, jobs);
    return jobs.length;
  });
}

/**
 * Returns the jobs that are not live and whose recipients are not parked. Between two reads, a recipient may change
 * once from having a live job to being parked, or back, but not twice.
 */
async function lostJobs(services: Services, job_ids: readonly string[]): Promise<Set<string>> {
  const { sql, jobs } = services;
  const dead_ids = await jobs.withoutLiveJob(sql, 'delivery.attempt', job_ids);
  if (dead_ids.length === 0) return new Set();
  const parked = await parkedJobs(sql, dead_ids);
  const missing = dead_ids.filter((id) => !parked.has(id));
  return new Set(await jobs.withoutLiveJob(sql, 'delivery.attempt', missing));
}
