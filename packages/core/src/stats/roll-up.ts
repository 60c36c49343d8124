import { inBatch } from '@postrider/db';
import type { Services } from '../operation/context.ts';
import { catchUp } from './catch-up.ts';
import { computeMinutes, foldBuckets, forgetStats } from './store.ts';

/** Minutes by sender, tag and so on take up a lot of space, and no response spans more than a few hours of them. */
export const RETENTION = { minute_days: 3, grouped_minute_hours: 24, hour_days: 400 };

/** Counts the events since the last run and those that were committed late. Runs every minute. */
export async function rollUpStats(services: Pick<Services, 'sql'>, budget_ms?: number): Promise<void> {
  await catchUp(
    services,
    {
      name: 'stats',
      async compute(tx, from, to) {
        await computeMinutes(tx, from, to);
        await foldBuckets(tx, 'hour', from, to);
        await foldBuckets(tx, 'day', from, to);
      },
    },
    budget_ms,
  );
}

export async function trimStats({ sql }: Pick<Services, 'sql'>): Promise<void> {
  await inBatch(sql, (tx) => forgetStats(tx, RETENTION));
}
