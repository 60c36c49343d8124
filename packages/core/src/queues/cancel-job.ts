import { cancelWaiting } from '@postrider/queue';
import { operation } from '../operation/operation.ts';
import type { JobName } from '../process/jobs.ts';
import { actionInput, notOpen, pull } from './job-action.ts';
import { type JobView, jobSchema, recipientOf } from './job-view.ts';
import { isLeftOver } from './mail-of-job.ts';
import { lockMailOfJob } from './store.ts';

/** Jobs that cannot be canceled, because their rows would be left behind. */
const INSTEAD: Partial<Record<string, string>> = {
  'webhook.deliver': 'It stands for what is owed to a webhook: disable that, and nothing is posted to it.',
  'webhook.close': 'It ends what is owed to a webhook that is disabled or removed; where it is dead, try it again.',
  'webhook.recover': 'It stands for what a webhook is owed once more: disable that, and nothing is posted to it.',
  'domain.cancel_mail': 'It cancels the mail of a domain that was removed; where it is dead, try it again.',
  'bulk.run': 'It stands for a bulk operation: cancel that.',
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
        const advice = `It stands for a mail of ${message_id}: cancel that, with POST /v1/email/${message_id}/cancel.`;
        throw notOpen(job, 'job.canceled', advice);
      }
      const advice = INSTEAD[job.queue];
      if (advice) throw notOpen(job, 'job.canceled', advice);
      return cancelWaiting(tx, job);
    });
  },
});
