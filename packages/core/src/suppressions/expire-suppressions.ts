import { newId } from '../fields/ids.ts';
import type { Services } from '../operation/context.ts';
import { expiredSuppressions, removeSuppressions } from './store.ts';

const BATCH = 1000;

/** Takes what has run out off the lists, each with its event. It had no effect any more since its time was up. */
export async function expireSuppressions({ sql, clock }: Pick<Services, 'sql' | 'clock'>): Promise<void> {
  for (;;) {
    const expired = await expiredSuppressions(sql, BATCH);
    const removals = expired.map((row) => ({ ...row, event_id: newId('event', clock.now()) }));
    if (removals.length > 0) await removeSuppressions(sql, 'expired', removals);
    if (removals.length < BATCH) return;
  }
}
