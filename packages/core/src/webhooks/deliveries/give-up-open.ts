import type { Services } from '../../operation/context.ts';
import { giveUpOpen, hasOpenDeliveries } from './delivery-store.ts';

const SLICE = 1000;
// Locked rows are tried again; by then their claim or result is recorded.
const RETRY_DELAY_MS = 60_000;

/** Fails the pending deliveries of a disabled or deleted endpoint, unless it has been enabled again. */
export async function giveUpDeliveries(
  { sql, jobs, clock }: Pick<Services, 'sql' | 'jobs' | 'clock'>,
  webhook_id: string,
): Promise<void> {
  while ((await giveUpOpen(sql, webhook_id, 'the webhook was disabled', SLICE)) > 0);
  if (!(await hasOpenDeliveries(sql, webhook_id))) return;
  const next_job = { data: { webhook_id }, start_after: new Date(clock.now() + RETRY_DELAY_MS) };
  await sql.begin((tx) => jobs.send(tx, 'webhook.close', [next_job]));
}
