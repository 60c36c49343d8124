import type { Tx } from '@postrider/db';
import type { Services } from '../context.ts';

// Whoever had read the endpoint while it was enabled owes it something more when he commits, within seconds.
const SECOND_SWEEP_MS = 60_000;

/** Has what is open at an endpoint given up, now and once more: in the commit that disables or deletes it. */
export async function sendClose(
  { jobs, clock }: Pick<Services, 'jobs' | 'clock'>,
  tx: Tx,
  webhook_id: string,
): Promise<void> {
  const data = { webhook_id };
  await jobs.send(tx, 'webhook.close', [{ data }, { data, start_after: new Date(clock.now() + SECOND_SWEEP_MS) }]);
}
