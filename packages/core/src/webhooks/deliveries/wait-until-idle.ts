import { setTimeout as pause } from 'node:timers/promises';
import type { Services } from '../../operation/context.ts';
import { hasDeliveriesUnderWay } from './delivery-store.ts';

// Workers drop their claims when notified. Posts in flight may take ten seconds and are not awaited.
const MAX_MS = 1000;
const STEP_MS = 20;

/** Waits until no worker is about to post to an endpoint that was just disabled. */
export async function waitUntilIdle({ sql, jobs }: Pick<Services, 'sql' | 'jobs'>, webhook_id: string): Promise<void> {
  jobs.wakeAll('webhook.close');
  const deadline = performance.now() + MAX_MS;
  while ((await hasDeliveriesUnderWay(sql, webhook_id)) && performance.now() < deadline) await pause(STEP_MS);
}
