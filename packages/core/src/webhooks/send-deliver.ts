import type { Tx } from '@postrider/db';
import type { Services } from '../context.ts';

/** Calls a worker to an endpoint that is owed something, in the commit that owes it. Wake the workers after it. */
export async function sendDeliver(
  { jobs }: Pick<Services, 'jobs'>,
  tx: Tx,
  workspace_id: string,
  webhook_id: string,
): Promise<void> {
  await jobs.send(tx, 'webhook.deliver', [{ data: { workspace_id, webhook_id } }]);
}
