import type { Tx } from '@postrider/db';
import { runWaiting } from '@postrider/queue';
import type { AuditAction } from '../audit/index.ts';
import { operation } from '../operation/operation.ts';
import { actionInput, notOpenError, pull } from './job-action.ts';
import { runRefusal } from './job-mail.ts';
import { type JobMatch, type JobView, jobSchema, recipientOf } from './job-view.ts';
import { lockJobMail, pullForward } from './store.ts';

/** Makes a deferred job due. This does not send scheduled messages early: reschedule those instead. */
export const runJobNow = operation({
  name: 'jobs.run_now',
  scope: 'operator',
  summary: 'Run a deferred job now',
  input: actionInput,
  output: jobSchema,
  async run(ctx, input): Promise<JobView> {
    const view = await pull(ctx, input, 'job.run_now', async (tx, job) => {
      // The job only wakes a worker for its endpoint: if it ran before a delivery is due, it would find nothing to do
      // and finish.
      if (job.queue === 'webhook.deliver') {
        throw notOpenError(job, 'job.run_now', 'It runs when the next webhook delivery is due.');
      }
      const recipient = recipientOf(job);
      return recipient ? runDelivery(tx, job, recipient, 'job.run_now') : runWaiting(tx, job);
    });
    // The cast is safe because the job was found in a queue of the catalog.
    ctx.jobs.wakeAll(view.queue as Parameters<typeof ctx.jobs.wakeAll>[0]);
    return view;
  },
});

/**
 * Makes a recipient and its job due in one commit. If a worker has claimed either, or the message is not deferred,
 * nothing changes and the error says why.
 */
export async function runDelivery(
  tx: Tx,
  job: JobMatch,
  recipient: NonNullable<ReturnType<typeof recipientOf>>,
  action: AuditAction,
): Promise<boolean> {
  if (await pullForward(tx, job.id, recipient)) return runWaiting(tx, job);
  const reason = runRefusal(job, recipient.message_id, await lockJobMail(tx, recipient));
  if (reason !== null) throw notOpenError(job, action, reason);
  return false;
}
