import { cancelWaiting } from '@postrider/queue';
import { operation } from '../operation/operation.ts';
import type { JobName } from '../process/jobs.ts';
import { actionInput, notOpen, pull } from './job-action.ts';
import { type JobView, jobSchema, recipientOf } from './job-view.ts';
import { isLeftOver } from './mail-of-job.ts';
import { lockMailOfJob } from './store.ts';

/** Jobs that cannot be canceled, because their rows would be left behind. */
const INSTEAD: Partial<Record<string, string>> = {
  'webhook.deliver': 'It posts the pending deliveries of a webhook: disable the webhook instead.',
  'webhook.close': 'It fails the pending deliveries of a disabled or deleted webhook; if it is dead, retry it.',
  'webhook.recover': 'It recovers the deliveries of a webhook: disable the webhook instead.',
  'domain.cancel_mail': 'It cancels the mail of a removed domain; if it is dead, retry it.',
  'bulk.run': 'It runs a bulk operation: cancel the operation instead.',
} satisfies Partial<Record<JobName, string>>;

/**
 * Cancels a waiting or dead job. A mail is canceled as a message instead: without its job it would get another one. A
 * stale job of a canceled or rescheduled mail can be dropped.
 */
export const cancelJob = operation({
  name: 'jobs.cancel',
  scope: 'operator',
  summary: 'Cancel a job that waits, or dismiss a dead one',
  input: actionInput,
  output: jobSchema,
  async run(ctx, input): Promise<JobView> {
    return pull(ctx, input, 'job.canceled', async (tx, job) => {
      const recipient = recipientOf(job);
      if (recipient) {
        if (isLeftOver(job, await lockMailOfJob(tx, recipient))) return cancelWaiting(tx, job);
        const { message_id } = recipient;
        const advice = `It delivers a mail of ${message_id}: cancel the message instead, with POST /v1/email/${message_id}/cancel.`;
        throw notOpen(job, 'job.canceled', advice);
      }
      const advice = INSTEAD[job.queue];
      if (advice) throw notOpen(job, 'job.canceled', advice);
      return cancelWaiting(tx, job);
    });
  },
});
