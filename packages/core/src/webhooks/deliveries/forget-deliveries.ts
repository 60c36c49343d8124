import type { Sql } from '@postrider/db';
import { deleteFinished, deleteStrayAttempts, dropMonth, dropMonthOfAttempts, oldMonths } from './delivery-store.ts';

const KEPT_DAYS = 30;
const SLICE = 5000;

/**
 * Deletes finished deliveries of months that ended 30 days ago: the whole month, or row by row if some are pending. The
 * failed attempts are deleted in both cases.
 */
export async function forgetDeliveries(sql: Sql): Promise<void> {
  const left = ['webhook_deliveries_default'];
  for (const month of await oldMonths(sql, 'webhook_deliveries', KEPT_DAYS))
    if (!(await dropMonth(sql, month))) left.push(month);
  for (const partition of left) while ((await deleteFinished(sql, partition, KEPT_DAYS, SLICE)) === SLICE);
  for (const month of await oldMonths(sql, 'webhook_attempts', KEPT_DAYS)) await dropMonthOfAttempts(sql, month);
  await deleteStrayAttempts(sql, KEPT_DAYS);
}
