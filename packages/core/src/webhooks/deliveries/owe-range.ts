import { idFloor } from '../../fields/ids.ts';
import type { Services } from '../../operation/context.ts';
import type { JobData } from '../../process/jobs.ts';
import { sendDeliver } from '../posting/send-deliver.ts';
import { oweAgain } from './delivery-store.ts';

const SLICE = 500;

/** Runs a recovery in small slices. A repeated job continues with the rest and creates no duplicate. */
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
    services.jobs.wakeAll('webhook.deliver');
  }
}
