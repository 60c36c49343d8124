import { inBatch } from '@postrider/db';
import type { Services } from '../operation/context.ts';
import { type BacklogPart, backlogParts, scheduleCount, storeCount, takeCount } from './store.ts';

/** How often a worker checks whether a count is due. */
export const BACKLOG_MS = 15_000;
// If a worker dies while counting, another worker takes over once this lease has expired.
const LEASE_SECONDS = 60;
/** Share of one core that counting may use in the long run: a large backlog is counted less often. */
const SHARE: Record<BacklogPart, number> = { recipients: 0.08, messages: 0.05, transports: 0.05 };

/** Counts open recipients if a count is due; one worker counts for all. */
export async function refreshBacklog({ sql }: Pick<Services, 'sql'>): Promise<void> {
  for (const part of backlogParts) {
    if (!(await takeCount(sql, part, LEASE_SECONDS))) continue;
    const started = performance.now();
    await inBatch(sql, (tx) => storeCount(tx, part));
    const took_seconds = (performance.now() - started) / 1000;
    // Slightly less than the check interval, or every second check would come too early.
    await scheduleCount(sql, part, Math.max(BACKLOG_MS / 1000 - 1, took_seconds / SHARE[part]));
  }
}
