import type { Tx } from '@postrider/db';
import type { Services } from '../../operation/context.ts';

// A transaction that read the endpoint as enabled commits its deliveries within seconds; the second sweep finds them.
const SECOND_SWEEP_MS = 60_000;

/**
 * Enqueues the jobs that fail pending deliveries, one now and one later, in the transaction that disables or deletes
 * the endpoint.
 */
export async function sendClose(
  { jobs, clock }: Pick<Services, 'jobs' | 'clock'>,
  tx: Tx,
  webhook_id: string,
): Promise<void> {
  const data = { webhook_id };
  await jobs.send(tx, 'webhook.close', [{ data }, { data, start_after: new Date(clock.now() + SECOND_SWEEP_MS) }]);
}
