import { forgetBulkItems } from '../bulk/index.ts';
import { trimCaptures } from '../captures/index.ts';
import type { Services } from '../context.ts';
import { forgetDeliveryWorkers, forgetStsPolicies } from '../delivery/index.ts';
import { trimFailures } from '../failures/index.ts';
import { forgetLanes } from '../lanes/index.ts';
import { forgetLoginFailures, forgetSessions } from '../people/index.ts';
import { forgetWork } from '../queues/index.ts';
import { runAll } from '../run-all.ts';
import { trimStats } from '../stats/index.ts';
import { expireSuppressions } from '../suppressions/index.ts';
import { forgetBudgets, forgetRateWindows } from '../usage/index.ts';
import { forgetDeliveries } from '../webhooks/index.ts';
import { extendPartitions, forgetIdempotencyKeys } from './store.ts';

const CAPTURES_KEPT = 10_000;
const QUEUE_DAYS_KEPT = 31;

/** The hourly chores: room for what comes, and an end for what nobody asks for any more. */
export async function maintainStorage(services: Services): Promise<void> {
  const { sql } = services;
  await runAll('storage maintenance', [
    () => extendPartitions(sql),
    () => forgetRateWindows(sql),
    () => forgetSessions(sql),
    () => forgetLoginFailures(sql),
    () => forgetBudgets(sql),
    () => forgetIdempotencyKeys(sql),
    () => expireSuppressions(services),
    () => forgetLanes(sql),
    () => forgetDeliveryWorkers(sql),
    () => forgetStsPolicies(sql),
    () => forgetBulkItems(services),
    () => trimStats(services),
    () => trimFailures(services),
    () => forgetDeliveries(sql),
    () => forgetWork(sql, QUEUE_DAYS_KEPT),
    () => trimCaptures(sql, CAPTURES_KEPT),
  ]);
}
