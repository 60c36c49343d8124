import type { Sql } from '@postrider/db';
import { jobsByIds, schedulesOf } from '@postrider/queue';

/** Returns the schedules whose last run failed for good, and when that run was created. */
export async function failedSchedules(
  sql: Sql,
  count: number,
): Promise<{ readonly name: string; readonly since: Date }[]> {
  const schedules = await schedulesOf(sql);
  const ids = schedules.flatMap(({ last_job_id }) => (last_job_id === null ? [] : [last_job_id]));
  const jobs = await jobsByIds(
    sql,
    schedules.map(({ name }) => name),
    ids,
  );
  const failed = new Map(jobs.flatMap((job) => (job.state === 'dead' ? [[job.id, job.created_at] as const] : [])));
  return schedules
    .flatMap(({ name, last_job_id }) => {
      const since = failed.get(last_job_id ?? '');
      return since === undefined ? [] : [{ name, since }];
    })
    .slice(0, count);
}
