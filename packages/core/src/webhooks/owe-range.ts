import type { Services } from '../context.ts';
import { idFloor } from '../ids.ts';
import type { JobData } from '../jobs.ts';
import { oweAgain } from './delivery-store.ts';
import { sendDeliver } from './send-deliver.ts';

const SLICE = 500;

/** The work of a recovery, in slices that hold nobody up. A repeat finds what is left: nothing is owed twice. */
export async function oweRange(services: Services, job: JobData<'webhook.recover'>): Promise<void> {
  const { workspace_id, webhook_id } = job;
  const before = idFloor('event', new Date(job.until).getTime());
  let after: string | null = idFloor('event', new Date(job.since).getTime());
  while (after !== null) {
    const slice = { workspace_id, webhook_id, after, before, count: SLICE };
    after = await services.sql.begin(async (tx) => {
      const last = await oweAgain(tx, slice);
      await sendDeliver(services, tx, workspace_id, webhook_id);
      return last;
    });
    services.jobs.wake('webhook.deliver');
  }
}
