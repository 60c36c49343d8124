import { z } from 'zod';
import { hasScope } from '../api-keys/index.ts';
import { operation } from '../operation.ts';
import { findJobs, type JobView, jobSchema, jobViews } from './job-view.ts';

const MOST = 1000;

/** Some jobs by id, in the order asked for; null for what is not there, and for all where operators alone may look. */
export const readJobs = operation({
  name: 'jobs.read_many',
  scope: null,
  summary: 'Some jobs by id',
  input: z.object({ ids: z.array(z.string()).max(MOST) }),
  output: z.array(jobSchema.nullable()).readonly(),
  async run(ctx, { ids }): Promise<readonly (JobView | null)[]> {
    const { actor } = ctx;
    if (actor.kind !== 'system' && !hasScope(actor.scopes, 'operator')) return ids.map(() => null);
    const views = await jobViews(ctx, await findJobs(ctx, ids));
    const found = new Map(views.map((view) => [view.id, view]));
    return ids.map((id) => found.get(id) ?? null);
  },
});
