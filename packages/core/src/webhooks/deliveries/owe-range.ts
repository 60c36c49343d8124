import type { Sql, Tx } from '@postrider/db';
import { idFloor } from '../../fields/ids.ts';
import type { Services } from '../../operation/context.ts';
import type { JobData } from '../../process/jobs.ts';
import { takeTurns } from '../../shares/index.ts';
import { sendDeliver } from '../posting/send-deliver.ts';
import { oweAgain } from './delivery-store.ts';
import { deleteRecovery, findOpenRecovery, insertRecovery, noteRecovered, openRecovery } from './recovery-store.ts';

const SLICE = 500;

/**
 * Runs recoveries in small slices, round-robin across workspaces, until the job's own recovery has finished. A repeated
 * job continues with the rest and creates no duplicates.
 */
export async function oweRange(services: Services, job: JobData<'webhook.recover'>): Promise<void> {
  const { sql, jobs } = services;
  await openForJob(sql, job);
  const finished = await takeTurns(services, {
    line: 'webhook_recoveries',
    own: job.webhook_id,
    isOver: async () => (await findOpenRecovery(sql, job)) !== 'this',
    work: (tx, { key, workspace_id }) => workSlice(services, tx, workspace_id, key),
    onSlice: () => jobs.wakeAll('webhook.deliver'),
  });
  if (!finished) await sql.begin((tx) => jobs.send(tx, 'webhook.recover', [{ data: job }]));
}

/** Ensures that a job has its recovery row, because the previous release adds only the job. */
async function openForJob(sql: Sql, job: JobData<'webhook.recover'>): Promise<void> {
  while (!(await insertRecovery(sql, job))) {
    const open = await findOpenRecovery(sql, job);
    if (open === 'this') return;
    if (open === 'another') throw new Error('another recovery of the endpoint is open; this one is retried after it');
    // The open recovery has finished in the meantime.
  }
}

async function workSlice(services: Services, tx: Tx, workspace_id: string, webhook_id: string): Promise<void> {
  const recovery = await openRecovery(tx, webhook_id);
  if (!recovery) return;
  const { since, until, position, enabled } = recovery;
  const after = position ?? idFloor('event', since.getTime());
  const before = idFloor('event', until.getTime());
  const last = enabled ? await oweAgain(tx, { workspace_id, webhook_id, after, before, count: SLICE }) : null;
  if (enabled) await sendDeliver(services, tx, workspace_id, webhook_id);
  if (last === null) await deleteRecovery(tx, webhook_id);
  else await noteRecovered(tx, webhook_id, last);
}
