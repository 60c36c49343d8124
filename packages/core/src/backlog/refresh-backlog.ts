import type { Services } from '../context.ts';
import { planFreely } from '../stats/index.ts';
import { type BacklogPart, countAgainIn, storeCount, takeCount } from './store.ts';

/** How often a worker asks whether it is time. */
export const BACKLOG_MS = 15_000;
// A worker that ends while it counts leaves the count to others after this.
const LEASE_SECONDS = 60;
/** What a count may take of one processor core in the long run: a large backlog is counted less often. */
const SHARE: Record<BacklogPart, number> = { recipients: 0.08, messages: 0.05 };

/** Counts what is open where it is time for that; one worker does it for all. */
export async function refreshBacklog({ sql }: Pick<Services, 'sql'>): Promise<void> {
  for (const part of ['recipients', 'messages'] as const) {
    if (!(await takeCount(sql, part, LEASE_SECONDS))) continue;
    const started = performance.now();
    await sql.begin(async (tx) => {
      await planFreely(tx);
      await storeCount(tx, part);
    });
    const took_seconds = (performance.now() - started) / 1000;
    // A bit less than the interval of the chore, or every second run would find that it is not yet time.
    await countAgainIn(sql, part, Math.max(BACKLOG_MS / 1000 - 1, took_seconds / SHARE[part]));
  }
}
