import { type JobRow, jobsByIds, schedulesOf } from '@postrider/queue';
import { z } from 'zod';
import { isoTime } from '../fields/clock.ts';
import { objectName, timeField } from '../fields/wire.ts';
import { operation } from '../operation/operation.ts';
import { cronInWords } from './cron-words.ts';
import { jobId } from './job-id.ts';
import { jobStateField } from './job-view.ts';

const scheduleSchema = z
  .object({
    object: objectName('schedule'),
    name: z.string().meta({ description: 'The name of the schedule and of its queue.' }),
    cron: z.string(),
    timezone: z.string(),
    in_words: z.string(),
    next_runs: z.array(timeField).readonly(),
    last_run: z
      .object({
        id: z.string(),
        state: jobStateField,
        created_at: timeField,
        duration_ms: z.number().nullable().meta({ description: 'Run time; null until it has ended.' }),
      })
      .nullable()
      .meta({ description: 'The job that it made last; null where that is no longer kept.' }),
    missed_policy: z.enum(['skip', 'once']).meta({ description: 'Policy for missed runs.' }),
  })
  .meta({ id: 'Schedule' });
export type ScheduleView = z.output<typeof scheduleSchema>;

export interface Schedules {
  readonly object: 'list';
  readonly data: readonly ScheduleView[];
}

export const listSchedules = operation({
  name: 'schedules.list',
  scope: 'operator',
  summary: 'List schedules and their next runs',
  input: z.object({ next_runs: z.int().min(0).max(20).default(3) }),
  output: z.object({ object: objectName('list'), data: z.array(scheduleSchema).readonly() }),
  async run(ctx, { next_runs }): Promise<Schedules> {
    const schedules = await schedulesOf(ctx.sql);
    const last_ids = schedules.flatMap(({ last_job_id }) => (last_job_id === null ? [] : [last_job_id]));
    const jobs = await jobsByIds(
      ctx.sql,
      schedules.map(({ name }) => name),
      last_ids,
    );
    const jobOf = new Map(jobs.map((job) => [job.id, job]));
    return {
      object: 'list',
      data: schedules.map(({ name, cron, timezone, missed, last_job_id, now }) => {
        const last = jobOf.get(last_job_id ?? '');
        const runs = next_runs === 0 ? [] : ctx.jobs.nextRuns(cron, timezone, now, next_runs);
        return {
          object: 'schedule',
          name,
          cron,
          timezone,
          in_words: cronInWords(cron),
          next_runs: runs.map(isoTime),
          last_run: last ? lastRun(last) : null,
          missed_policy: missed,
        };
      }),
    };
  },
});

function lastRun({ id, state, created_at, started_at, completed_at }: JobRow): NonNullable<ScheduleView['last_run']> {
  const duration_ms = started_at && completed_at && completed_at.getTime() - started_at.getTime();
  return { id: jobId(id), state, created_at: isoTime(created_at), duration_ms };
}
