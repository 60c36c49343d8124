import { cancelWaiting } from '@postrider/queue';
import { operation } from '../operation/operation.ts';
import type { JobName } from '../process/jobs.ts';
import { actionInput, notOpenError, pull } from './job-action.ts';
import { isLeftOver } from './job-mail.ts';
import { type JobView, jobSchema, recipientOf } from './job-view.ts';
import { lockJobMail } from './store.ts';

/** Jobs that cannot be canceled, because they would leave their rows behind. */
const INSTEAD: Partial<Record<string, string>> = {
  'webhook.deliver': 'This job sends pending webhook deliveries. Disable the webhook instead.',
  'webhook.close': 'This job drops the deliveries of a disabled or deleted webhook. If it is dead, retry it.',
  'webhook.recover': 'This job recovers webhook deliveries. Disable the webhook instead.',
  'domain.cancel_mail': 'This job cancels email from a removed domain. If it is dead, retry it.',
  'bulk.run': 'This job runs a bulk operation. Cancel the operation instead.',
} satisfies Partial<Record<JobName, string>>;

/**
 * Cancels a pending or dead job. To cancel a message, cancel the message itself, because a message without a job gets a
 * new one. A stale job of a canceled or rescheduled message can be dropped.
 */
export const cancelJob = operation({
  name: 'jobs.cancel',
  scope: 'operator',
  summary: 'Cancel a waiting job or dismiss a dead one',
  input: actionInput,
  output: jobSchema,
  async run(ctx, input): Promise<JobView> {
    return pull(ctx, input, 'job.canceled', async (tx, job) => {
      const recipient = recipientOf(job);
      if (recipient) {
        if (isLeftOver(job, await lockJobMail(tx, recipient))) return cancelWaiting(tx, job);
        const { message_id } = recipient;
        const advice = `This job delivers ${message_id}. Cancel the message with POST /v1/email/${message_id}/cancel instead.`;
        throw notOpenError(job, 'job.canceled', advice);
      }
      const advice = INSTEAD[job.queue];
      if (advice) throw notOpenError(job, 'job.canceled', advice);
      return cancelWaiting(tx, job);
    });
  },
});
