import { randomUUID } from 'node:crypto';
import type { Services } from '../context.ts';
import { overdueRecipients, rememberJobs } from './store.ts';

// Longer than the lease and pg-boss's own rescue after a lost heartbeat: whoever is found later was forgotten.
const OVERDUE_SECONDS = 60;
const MOST = 1000;

/**
 * Finds open recipients that are overdue and have no live job, and gives them one. In steady state there
 * are none: each rescue is logged as an alarm. Two at once skip each other's rows.
 */
export async function reconcileDeliveries(services: Services): Promise<number> {
  const rescued = await services.sql.begin(async (tx) => {
    const overdue = await overdueRecipients(tx, OVERDUE_SECONDS, MOST);
    const known = overdue.flatMap((row) => (row.job_id === null ? [] : [row.job_id]));
    const gone = new Set(await services.jobs.withoutLiveJob(tx, 'delivery.attempt', known));
    const orphans = overdue
      .filter((row) => row.job_id === null || gone.has(row.job_id))
      .map(({ workspace_id, message_id, recipient_id }) => ({
        workspace_id,
        message_id,
        recipient_id,
        job_id: randomUUID(),
      }));
    await rememberJobs(tx, orphans);
    await services.jobs.send(
      tx,
      'delivery.attempt',
      orphans.map(({ job_id, ...data }) => ({ id: job_id, data })),
    );
    return orphans.length;
  });
  if (rescued > 0) {
    services.log.error({ rescued }, 'open recipients had no live job and were given one');
    services.jobs.wake('delivery.attempt');
  }
  return rescued;
}
