import type { Services } from '../../operation/context.ts';
import { overdueEndpoints } from '../posting/lease-store.ts';

// Longer than a lease, and longer than pg-boss takes to detect a dead worker.
const OVERDUE_SECONDS = 60;
const PAGE = 1000;

/**
 * Finds endpoints that have due deliveries but neither a lease nor a job, and enqueues a job for each. Normally there
 * are no such endpoints, so each is logged as an alarm. Costs one index step per endpoint with pending deliveries, and
 * a walk of the live jobs if some are late.
 */
export async function reconcileWebhooks({
  sql,
  jobs,
  log,
  metrics,
}: Pick<Services, 'sql' | 'jobs' | 'log' | 'metrics'>): Promise<number> {
  let rescued = 0;
  for (let after: string | null = ''; after !== null; ) {
    const { endpoints, last } = await overdueEndpoints(sql, OVERDUE_SECONDS, after, PAGE);
    after = last;
    if (endpoints.length === 0) continue;
    const called = await jobs.liveAbout(
      sql,
      'webhook.deliver',
      'webhook_id',
      endpoints.map(({ webhook_id }) => webhook_id),
    );
    const forgotten = endpoints.filter(({ webhook_id }) => !called.has(webhook_id));
    await sql.begin((tx) =>
      jobs.send(
        tx,
        'webhook.deliver',
        forgotten.map((data) => ({ data })),
      ),
    );
    rescued += forgotten.length;
  }
  if (rescued > 0) {
    metrics.shift('invariant_violations', ['webhook_without_job'], rescued);
    log.error({ rescued }, 'rescheduled webhooks with due deliveries and no live job');
    jobs.wakeAll('webhook.deliver');
  }
  return rescued;
}
