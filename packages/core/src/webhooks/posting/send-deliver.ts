import type { Tx } from '@postrider/db';
import type { Services } from '../../operation/context.ts';

/**
 * Enqueues an endpoint's job in the transaction that adds its deliveries. The caller must wake the workers after the
 * commit.
 */
export async function sendDeliver(
  { jobs }: Pick<Services, 'jobs'>,
  tx: Tx,
  workspace_id: string,
  webhook_id: string,
): Promise<void> {
  await jobs.send(tx, 'webhook.deliver', [{ data: { workspace_id, webhook_id } }]);
}
