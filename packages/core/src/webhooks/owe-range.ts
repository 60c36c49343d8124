import type { Services } from '../context.ts';
import { idFloor } from '../ids.ts';
import type { JobData } from '../jobs.ts';
import { oweAgain } from './delivery-store.ts';

const SLICE = 500;

/** The work of a recovery, in slices that hold nobody up. A repeat finds what is left: nothing is owed twice. */
export async function oweRange(services: Services, job: JobData<'webhook.recover'>): Promise<void> {
  const { workspace_id, webhook_id } = job;
  const before = idFloor('event', new Date(job.until).getTime());
  let after: string | null = idFloor('event', new Date(job.since).getTime());
  while (after !== null) {
    after = await oweAgain(services.sql, { workspace_id, webhook_id, after, before, count: SLICE });
    services.jobs.wake('webhook.recover');
  }
}
