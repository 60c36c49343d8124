import { countDead, redriveDead } from '@postrider/queue';
import { z } from 'zod';
import { recordAudit } from '../audit/index.ts';
import { INSTANCE } from '../operation/access.ts';
import { operation } from '../operation/operation.ts';
import { reasonField } from './job-action.ts';
import { queueField, queueNamed } from './queue-names.ts';

const MAX_JOBS = 10_000;

const redrivenSchema = z.object({
  queue: z.string(),
  dead: z.int().meta({ description: `Number of dead jobs before, counted up to ${MAX_JOBS + 1}.` }),
  redriven: z.int(),
  preview: z.boolean(),
});
export type Redriven = z.output<typeof redrivenSchema>;

/** Retries the dead jobs of a queue, oldest first; a preview only counts them. */
export const redriveQueue = operation({
  name: 'queues.redrive',
  scope: 'operator',
  summary: 'Retry the dead jobs of a queue',
  input: z.object({
    queue: queueField,
    limit: z.int().min(1).max(MAX_JOBS).default(MAX_JOBS),
    preview: z.boolean().default(false),
    reason: reasonField.optional(),
  }),
  output: redrivenSchema,
  async run(ctx, { queue, limit, preview, reason = null }): Promise<Redriven> {
    const name = queueNamed(queue);
    const dead = await countDead(ctx.sql, name, MAX_JOBS + 1);
    if (preview || dead === 0) return { queue: name, dead, redriven: 0, preview };
    const redriven = await ctx.sql.begin(async (tx) => {
      const count = await redriveDead(tx, name, limit);
      const fact = {
        action: 'queue.redriven',
        target_id: name,
        diff: { count },
        reason,
        workspace_id: INSTANCE,
      } as const;
      if (count > 0) await recordAudit(tx, ctx, [fact]);
      return count;
    });
    ctx.jobs.wakeAll(name);
    return { queue: name, dead, redriven, preview };
  },
});
