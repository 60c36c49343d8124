import { countDeadJobs, nextDeadJobs, reviveJobs } from '@postrider/queue';
import { idPrefixes } from '../ids.ts';
import type { Errand } from './errand.ts';
import { earlierOf, jobFilterSchema, parseFilter } from './filters.ts';
import type { Plan } from './plan.ts';

/** Has dead jobs of one queue tried again. */
export function redrivePlan({ cutoff_at, filter }: Errand): Plan {
  const { queue, since = null, until } = parseFilter(jobFilterSchema, filter);
  const range = { queue, since, before: earlierOf(until, cutoff_at) };
  return {
    check: async () => {},
    async next(sql, position, count) {
      const jobs = await nextDeadJobs(sql, range, position, count);
      const last = jobs.length < count ? null : (jobs.at(-1)?.position ?? null);
      return { ids: jobs.map(({ id }) => idPrefixes.job + id), position: last };
    },
    async count(sql, most) {
      const count = await countDeadJobs(sql, range, most);
      return { count, exact: count < most };
    },
    passedOver: async () => null,
    warnings: [],
    async act(tx, _services, ids) {
      const revived = await reviveJobs(
        tx,
        queue,
        ids.map((id) => id.slice(idPrefixes.job.length)),
      );
      return ids.map((item_id) =>
        revived.has(item_id.slice(idPrefixes.job.length))
          ? { item_id, outcome: 'done', reason: null }
          : { item_id, outcome: 'skipped', reason: 'job_not_open' },
      );
    },
    wakes: queue,
    most: Number.POSITIVE_INFINITY,
  };
}
