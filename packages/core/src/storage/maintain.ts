import { trimCaptures } from '../captures/index.ts';
import type { Services } from '../context.ts';
import { forgetRateWindows } from '../usage/index.ts';
import { extendPartitions, forgetIdempotencyKeys } from './store.ts';

const CAPTURES_KEPT = 10_000;

/** The hourly chores: room for what comes, and an end for what nobody asks for any more. */
export async function maintainStorage(services: Services): Promise<void> {
  await extendPartitions(services.sql);
  await forgetRateWindows(services.sql);
  await forgetIdempotencyKeys(services.sql);
  await trimCaptures(services.sql, CAPTURES_KEPT);
}
