import { z } from 'zod';
import { isoTime } from '../fields/clock.ts';
import { idPrefixes } from '../fields/ids.ts';
import { idField, timeField } from '../fields/wire.ts';
import { operation } from '../operation/operation.ts';
import { findJob, jobSchema, jobViews, recipientOf } from './job-view.ts';
import { workerName } from './queue-view.ts';
import { deliveryAttemptsOf, jobAttemptsOf, workerRows } from './store.ts';

const MAX_ATTEMPTS = 100;

const jobAttemptSchema = z
  .object({
    number: z.int(),
    started_at: timeField,
    duration_ms: z.number().nullable(),
    error: z
      .object({ name: z.string(), message: z.string() })
      .nullable()
      .meta({ description: 'Null where it went well.' }),
    worker: z.string().nullable(),
  })
  .meta({ id: 'JobAttempt' });

const jobDetailSchema = jobSchema.extend({
  attempts: z
    .array(jobAttemptSchema)
    .readonly()
    .meta({
      description:
        'Newest first. For email, the delivery attempts. For other jobs, failed runs and runs that ' +
        'succeeded after a failure. A run whose worker was lost is not listed.',
    }),
});
export type JobDetail = z.output<typeof jobDetailSchema>;

export const getJob = operation({
  name: 'jobs.get',
  scope: 'operator',
  summary: 'A job with its attempts, newest first',
  input: z.object({ id: idField(idPrefixes.job) }),
  output: jobDetailSchema,
  async run(ctx, { id }): Promise<JobDetail> {
    const job = await findJob(ctx, id);
    const recipient = recipientOf(job);
    const [[view], rows] = await Promise.all([
      jobViews(ctx, [job]),
      recipient ? deliveryAttemptsOf(ctx.sql, recipient, MAX_ATTEMPTS) : jobAttemptsOf(ctx.sql, job.id, MAX_ATTEMPTS),
    ]);
    if (!view) throw new Error(`there is no view of ${id}`);
    const workers = rows.some(({ worker_id }) => worker_id !== null) ? await workerRows(ctx.sql, 31 * 86_400) : [];
    const workerNames = new Map(workers.map((worker) => [worker.id, workerName(worker)]));
    return {
      ...view,
      attempts: rows.map((row) => ({
        number: row.number,
        started_at: isoTime(row.started_at),
        duration_ms: row.duration_ms,
        error:
          row.error_name === null && row.error_message === null
            ? null
            : { name: row.error_name ?? 'Error', message: row.error_message ?? '' },
        worker: row.worker_id && (workerNames.get(row.worker_id) ?? row.worker_id),
      })),
    };
  },
});
