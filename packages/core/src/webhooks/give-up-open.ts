import type { Services } from '../context.ts';
import { giveUpOpen } from './delivery-store.ts';

const SLICE = 1000;

/** What was open at an endpoint that was disabled or deleted is given up, unless it is enabled again meanwhile. */
export async function giveUpDeliveries({ sql }: Pick<Services, 'sql'>, webhook_id: string): Promise<void> {
  while ((await giveUpOpen(sql, webhook_id, 'the webhook was disabled', SLICE)) === SLICE);
}
