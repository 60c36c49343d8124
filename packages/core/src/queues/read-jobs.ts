import { z } from 'zod';
import { operation } from '../operation/operation.ts';
import { hasScope } from '../operation/scopes.ts';
import { jobId } from './job-id.ts';
import { findJobs, type JobView, jobSchema, jobViews } from './job-view.ts';
import { readJobsByMessage } from './store.ts';

const MAX_IDS = 1000;

/** Returns the jobs of the open recipients of messages, in message order; empty if only operators may see them. */
export const readJobsOfMessages = operation({
  name: 'jobs.of_messages',
  scope: null,
  summary: 'Jobs of several emails',
  input: z.object({ ids: z.array(z.string()).max(MAX_IDS) }),
  output: z.array(z.array(z.object({ recipient_id: z.string(), job_id: z.string() })).readonly()).readonly(),
  async run(ctx, { ids }) {
    const { actor } = ctx;
    if (actor.kind !== 'system' && !hasScope(actor.scopes, 'operator')) return ids.map(() => []);
    const rows = await readJobsByMessage(ctx.sql, actor.workspace_id, ids);
    const by_message = Map.groupBy(rows, (row) => row.message_id);
    return ids.map((id) =>
      (by_message.get(id) ?? []).map(({ recipient_id, job_id }) => ({ recipient_id, job_id: jobId(job_id) })),
    );
  },
});

/**
 * Returns jobs by id, in the given order; null for ids without a job, and for every id if the caller may not
 * see the jobs.
 */
export const readJobs = operation({
  name: 'jobs.read_many',
  scope: null,
  summary: 'Jobs by ID',
  input: z.object({ ids: z.array(z.string()).max(MAX_IDS) }),
  output: z.array(jobSchema.nullable()).readonly(),
  async run(ctx, { ids }): Promise<readonly (JobView | null)[]> {
    const { actor } = ctx;
    if (actor.kind !== 'system' && !hasScope(actor.scopes, 'operator')) return ids.map(() => null);
    const views = await jobViews(ctx, await findJobs(ctx, ids));
    const by_id = new Map(views.map((view) => [view.id, view]));
    return ids.map((id) => by_id.get(id) ?? null);
  },
});
