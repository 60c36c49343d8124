import { idFloor } from '../fields/ids.ts';
import type { Services } from '../operation/context.ts';
import { dropItems } from './store.ts';

const DAY_MS = 86_400_000;
const ITEMS_KEPT_DAYS = 30;
/** Export lines contain addresses and subjects. */
const LINES_KEPT_DAYS = 7;
const CONCURRENCY = 10_000;
const MAX_OPERATIONS = 50;

/** Deletes the receipts of old operations; the operations remain. */
export async function forgetBulkItems({ sql, clock }: Pick<Services, 'sql' | 'clock'>): Promise<void> {
  await forget(ITEMS_KEPT_DAYS, false);
  await forget(LINES_KEPT_DAYS, true);

  async function forget(days: number, lines_only: boolean): Promise<void> {
    const before = idFloor('bulk', clock.now() - days * DAY_MS);
    for (let round = 0; round < MAX_OPERATIONS; round++) {
      if ((await dropItems(sql, before, lines_only, CONCURRENCY)) < CONCURRENCY) return;
    }
  }
}
