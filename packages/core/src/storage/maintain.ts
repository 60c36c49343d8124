import { inBatch } from '@postrider/db';
import { forgetAlarms } from '../alarms/index.ts';
import { forgetBulkItems } from '../bulk/index.ts';
import { dropCaptureDays, trimCaptures } from '../captures/index.ts';
import { forgetDeliveryWorkers, forgetStsPolicies } from '../delivery/index.ts';
import { trimFailures } from '../failures/index.ts';
import { forgetFeedback, forgetReceipts } from '../feedback/index.ts';
import { forgetInvitations } from '../invitations/index.ts';
import { forgetLanes } from '../lanes/index.ts';
import { forgetContentLinks } from '../messages/index.ts';
import type { Services } from '../operation/context.ts';
import { forgetResets } from '../password-resets/index.ts';
import { forgetLoginFailures, forgetSessions } from '../people/index.ts';
import { runAll } from '../process/run-all.ts';
import { forgetWork } from '../queues/index.ts';
import { keptDays, tendRequestDays } from '../requests/index.ts';
import { trimStats } from '../stats/index.ts';
import { expireSuppressions } from '../suppressions/index.ts';
import { forgetBudgets, forgetRateWindows } from '../usage/index.ts';
import { forgetDeliveries } from '../webhooks/index.ts';
import { MAX_CAPTURED } from './captured.ts';
import { betweenStatements, dropExpired } from './drop-expired.ts';
import { extendPartitions, forgetIdempotencyKeys } from './store.ts';

const QUEUE_DAYS_KEPT = 31;

const FEEDBACK_DAYS = 30;
const MAX_FEEDBACK = 100_000;

/** Runs the hourly maintenance: creates partitions and deletes expired data. */
export async function maintainStorage(services: Services): Promise<void> {
  const { sql, config } = services;
  const captures_kept = { seconds: config.RETENTION_CAPTURES, bytes_per_workspace: MAX_CAPTURED };
  await runAll('storage maintenance', [
    () => extendPartitions(sql),
    () => inBatch(sql, forgetRateWindows),
    () => inBatch(sql, forgetSessions),
    () => inBatch(sql, forgetLoginFailures),
    () => inBatch(sql, forgetInvitations),
    () => inBatch(sql, forgetResets),
    () => inBatch(sql, forgetBudgets),
    () => inBatch(sql, (tx) => forgetFeedback(tx, FEEDBACK_DAYS, MAX_FEEDBACK)),
    () => inBatch(sql, (tx) => forgetReceipts(tx, FEEDBACK_DAYS)),
    () => inBatch(sql, forgetContentLinks),
    () => inBatch(sql, forgetIdempotencyKeys),
    () => expireSuppressions(services),
    () => inBatch(sql, forgetLanes),
    () => inBatch(sql, forgetDeliveryWorkers),
    () => inBatch(sql, (tx) => forgetStsPolicies(tx)),
    () => forgetBulkItems(services),
    () => trimStats(services),
    () => trimFailures(services),
    () => dropExpired(services),
    () => betweenStatements(() => forgetDeliveries(services)),
    () => inBatch(sql, (tx) => forgetAlarms(tx)),
    () => inBatch(sql, (tx) => forgetWork(tx, QUEUE_DAYS_KEPT)),
    () => inBatch(sql, (tx) => trimCaptures(tx, captures_kept)),
    () => betweenStatements(() => inBatch(sql, dropCaptureDays)),
    () => betweenStatements(() => inBatch(sql, (tx) => tendRequestDays(tx, keptDays(config)))),
  ]);
}
