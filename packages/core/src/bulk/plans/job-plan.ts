import { countDeadJobs, nextDeadJobs, reviveJobs } from '@postrider/queue';
import { jobId, jobUuid } from '../../queues/index.ts';
import type { BulkCommand } from '../command.ts';
import { earlierOf, jobFilterSchema, parseFilter } from './filters.ts';
import type { Plan } from './plan.ts';

/** Retries dead jobs of one queue. */
export function redrivePlan({ cutoff_at, filter }: BulkCommand): Plan {
  const { queue, since = null, until } = parseFilter(jobFilterSchema, filter);
  const range = { queue, since, before: earlierOf(until, cutoff_at) };
  return {
    check: async () => {},
    async next(sql, position, count) {
      const jobs = await nextDeadJobs(sql, range, position, count);
      const last = jobs.length < count ? null : (jobs.at(-1)?.position ?? null);
      return { ids: jobs.map(({ id }) => jobId(id)), position: last };
    },
    async count(sql, max) {
      const count = await countDeadJobs(sql, range, max);
      return { count, exact: count < max };
    },
    passedOver: async () => [],
    warnings: [],
    async act(tx, _services, ids) {
      const uuids = new Map(ids.map((id) => [id, jobUuid(id) ?? '']));
      const revived = await reviveJobs(tx, queue, [...uuids.values()]);
      return ids.map((item_id) =>
        revived.has(uuids.get(item_id) ?? '')
          ? { item_id, outcome: 'done', reason: null }
          : { item_id, outcome: 'skipped', reason: 'job_not_open' },
      );
    },
    wakes: queue,
    most: Number.POSITIVE_INFINITY,
  };
}
