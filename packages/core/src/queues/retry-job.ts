import { retryEnded } from '@postrider/queue';
import { operation } from '../operation/operation.ts';
import { actionInput, pull } from './job-action.ts';
import { type JobView, jobSchema, recipientOf } from './job-view.ts';
import { runDelivery } from './run-job-now.ts';

/** Retries a dead or canceled job. A deferred message is attempted again immediately. */
export const retryJob = operation({
  name: 'jobs.retry',
  scope: 'operator',
  summary: 'Retry a dead or canceled job',
  input: actionInput,
  output: jobSchema,
  async run(ctx, input): Promise<JobView> {
    const view = await pull(ctx, input, 'job.retried', async (tx, job) => {
      const recipient = recipientOf(job);
      const waits = job.state === 'deferred' || job.state === 'retry';
      return recipient && waits ? runDelivery(tx, job, recipient, 'job.retried') : retryEnded(tx, job);
    });
    // The cast is safe because the job was found in a queue of the catalog.
    ctx.jobs.wakeAll(view.queue as Parameters<typeof ctx.jobs.wakeAll>[0]);
    return view;
  },
});
