import { schedulesOf } from '@postrider/queue';
import { z } from 'zod';
import { recordAudit } from '../audit/index.ts';
import { newJobId } from '../fields/ids.ts';
import { INSTANCE } from '../operation/access.ts';
import { AppError } from '../operation/errors.ts';
import { operation } from '../operation/operation.ts';
import { reasonField } from './job-action.ts';
import { jobId } from './job-id.ts';
import { findJob, type JobView, jobSchema, jobViews } from './job-view.ts';
import { queueNames } from './queue-names.ts';

/** Enqueues the job of a schedule now. The schedule is unchanged, and runs of one queue never overlap. */
export const runSchedule = operation({
  name: 'schedules.run',
  scope: 'operator',
  summary: 'Run a schedule now',
  input: z.object({ name: z.string().min(1).max(100), reason: reasonField.optional() }),
  output: jobSchema,
  async run(ctx, { name, reason = null }): Promise<JobView> {
    const schedule = (await schedulesOf(ctx.sql)).find((one) => one.name === name);
    const queue = queueNames.find((one) => one === schedule?.name);
    if (!queue) {
      throw new AppError('schedule_not_found', `No schedule named ${name}.`);
    }
    const id = newJobId(ctx.clock.now());
    await ctx.sql.begin(async (tx) => {
      // The cast is safe because the payload of every scheduled job is empty; the worker parses it anyway.
      await ctx.jobs.send(tx, queue, [{ id, data: {} as never }]);
      const diff = { queue, job_id: jobId(id) };
      await recordAudit(tx, ctx, [{ action: 'schedule.run', target_id: name, diff, reason, workspace_id: INSTANCE }]);
    });
    const [view] = await jobViews(ctx, [await findJob(ctx, jobId(id))]);
    if (!view) throw new Error(`there is no view of ${id}`);
    ctx.jobs.wakeAll(queue);
    return view;
  },
});
