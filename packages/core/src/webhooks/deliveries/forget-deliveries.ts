import type { Services } from '../../operation/context.ts';
import { keptSeconds } from '../../operation/retention.ts';
import { deleteFinished, deleteStrayAttempts, dropAttemptMonth, dropMonth, oldMonths } from './delivery-store.ts';

const USUALLY_KEPT_SECONDS = 30 * 86_400;
const SLICE = 5000;

/**
 * Deletes finished deliveries of months that ended before the event retention period, or 30 days ago if
 * RETENTION_EVENTS is not set: the whole month, or row by row if some are pending. Failed attempts are deleted in both
 * cases.
 */
export async function forgetDeliveries(services: Pick<Services, 'sql' | 'config'>): Promise<void> {
  const { sql } = services;
  const age = keptSeconds(services, 'events') ?? USUALLY_KEPT_SECONDS;
  const seconds = services.config.RETENTION_EVENTS === undefined ? Math.min(age, USUALLY_KEPT_SECONDS) : age;
  const tables = ['webhook_deliveries_default'];
  for (const month of await oldMonths(sql, 'webhook_deliveries', seconds))
    if (!(await dropMonth(sql, month))) tables.push(month);
  for (const partition of tables) while ((await deleteFinished(sql, partition, seconds, SLICE)) === SLICE);
  for (const month of await oldMonths(sql, 'webhook_attempts', seconds)) await dropAttemptMonth(sql, month);
  await deleteStrayAttempts(sql, seconds);
}
