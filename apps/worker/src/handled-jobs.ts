import type { Services } from '@postrider/core';
import { addJobAttempt } from '@postrider/core/queues';
import type { HoldCache, WorkerMetrics } from '@postrider/dispatch';
import { jobHandlers } from './handlers.ts';

/**
 * Runs the jobs of every queue that needs no lanes, each within its concurrency limit, and records failed and retried
 * runs.
 */
export function startHandledJobs(
  services: Services,
  metrics: WorkerMetrics,
  holds: Pick<HoldCache, 'isPaused' | 'onChange'>,
): { stop(): Promise<void> } {
  const works = jobHandlers(services).map(([name, handler]) => {
    const work = services.jobs.work(name, {
      handler,
      // Jobs already running when a hold begins are allowed to finish.
      concurrency: () => (holds.isPaused(name) ? 0 : metrics.concurrency(name)),
      async onEnd({ job, started_at, wait_ms, duration_ms, error }) {
        const failed = error !== null;
        metrics.record(name, { wait_ms, run_ms: duration_ms, failed, finished: !failed });
        // A job that succeeds on the first run leaves only its row.
        if (!failed && job.retry_count === 0) return;
        await addJobAttempt(services.sql, {
          job_id: job.id,
          number: job.retry_count + 1,
          queue: name,
          started_at,
          duration_ms,
          error,
          worker_id: metrics.worker_id,
        });
      },
    });
    metrics.watch(name, {
      active() {
        const job_ids = work.held().map(({ id }) => id);
        return { active: job_ids.length, job_ids };
      },
      changed: () => work.poll(),
    });
    return work;
  });
  holds.onChange(() => {
    for (const work of works) work.poll();
  });
  return {
    async stop() {
      await Promise.all(works.map((work) => work.stop()));
    },
  };
}
