import { setTimeout as pause } from 'node:timers/promises';
import type { Services } from '../context.ts';
import { anyUnderWay } from './delivery-store.ts';

// Workers drop what they had claimed as soon as they hear of it. Posts that have begun may take ten seconds; they
// are not waited for.
const MOST_MS = 1000;
const STEP_MS = 20;

/** Waits until no worker is about to post to an endpoint that has just been switched off. */
export async function untilQuiet({ sql, jobs }: Pick<Services, 'sql' | 'jobs'>, webhook_id: string): Promise<void> {
  jobs.wake('webhook.close');
  const deadline = performance.now() + MOST_MS;
  while ((await anyUnderWay(sql, webhook_id)) && performance.now() < deadline) await pause(STEP_MS);
}
