import { newId } from '../fields/ids.ts';
import type { Services } from '../operation/context.ts';
import { expiredSuppressions, removeSuppressions } from './store.ts';

const BATCH = 1000;

/** Deletes expired suppressions, each with its event. They stop having an effect the moment they expire. */
export async function expireSuppressions({ sql, clock }: Pick<Services, 'sql' | 'clock'>): Promise<void> {
  for (;;) {
    const expired = await expiredSuppressions(sql, BATCH);
    const removals = expired.map((row) => ({ ...row, event_id: newId('event', clock.now()) }));
    if (removals.length > 0) await removeSuppressions(sql, 'expired', removals);
    if (removals.length < BATCH) return;
  }
}
