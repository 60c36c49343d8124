import { z } from 'zod';
import { recordAudit } from '../audit/index.ts';
import { INSTANCE } from '../operation/access.ts';
import { operation } from '../operation/operation.ts';
import { catalogue } from '../process/jobs.ts';
import { reasonField } from './job-action.ts';
import { queueField, queueNamed } from './queue-names.ts';
import { DEFAULTS, type QueueView, queueSchema, queueViews } from './queue-view.ts';
import { putConcurrency } from './store.ts';

/** Sets how many jobs of a queue each worker runs concurrently. Takes effect on every worker within two seconds. */
export const setConcurrency = operation({
  name: 'queues.set_concurrency',
  scope: 'operator',
  summary: 'Set how many jobs from a queue each worker runs concurrently',
  input: z.object({
    queue: queueField,
    concurrency: z.int().min(1).max(1000),
    reason: reasonField.optional(),
  }),
  output: queueSchema,
  async run(ctx, { queue, concurrency, reason = null }): Promise<QueueView> {
    const name = queueNamed(queue);
    await ctx.sql.begin(async (tx) => {
      const before = (await putConcurrency(tx, name, concurrency)) ?? catalogue[name].concurrency;
      const diff = { concurrency: { from: before, to: concurrency } };
      await recordAudit(tx, ctx, [
        { action: 'queue.concurrency_set', target_id: name, diff, reason, workspace_id: INSTANCE },
      ]);
    });
    const [view] = await queueViews(ctx, [name], DEFAULTS);
    if (!view) throw new Error(`there is no view of ${name}`);
    return view;
  },
});
