import type { Services } from '@postrider/core';
import { addJobAttempt } from '@postrider/core/queues';
import { jobHandlers } from './handlers.ts';
import type { HoldKeeper } from './hold-keeper.ts';
import type { WorkBook } from './work-book.ts';

/** Works on every queue that needs no lanes, each with room of its own, and keeps what has failed to be looked at. */
export function startHandledJobs(
  services: Services,
  book: WorkBook,
  holds: Pick<HoldKeeper, 'isPaused' | 'onChange'>,
): { stop(): Promise<void> } {
  const works = jobHandlers(services).map(([name, handler]) => {
    const work = services.jobs.work(name, {
      handler,
      // What runs when a hold begins ends by itself.
      concurrency: () => (holds.isPaused(name) ? 0 : book.concurrency(name)),
      async onEnd({ job, started_at, wait_ms, duration_ms, error }) {
        const failed = error !== null;
        book.note(name, { wait_ms, run_ms: duration_ms, failed, finished: !failed });
        // A job that goes well at once leaves no more than its row.
        if (!failed && job.retry_count === 0) return;
        await addJobAttempt(services.sql, {
          job_id: job.id,
          number: job.retry_count + 1,
          queue: name,
          started_at,
          duration_ms,
          error,
          worker_id: book.worker_id,
        });
      },
    });
    book.keep(name, {
      held() {
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
