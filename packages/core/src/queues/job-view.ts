import { idOfUuid } from '@postrider/db';
import { type JobRow, jobStates, jobsByIds } from '@postrider/queue';
import { z } from 'zod';
import { isoTime } from '../fields/clock.ts';
import { idPrefixes } from '../fields/ids.ts';
import { idField, objectName, timeField } from '../fields/wire.ts';
import type { Context } from '../operation/context.ts';
import { jobPriorities } from '../priorities/index.ts';
import { catalogue, type JobName } from '../process/jobs.ts';
import { jobId, jobNotFound, jobUuid } from './job-id.ts';
import { queueNames } from './queue-names.ts';
import { workerName } from './queue-view.ts';
import { holdersOf, type ParkedRow, parkedAmong, type WorkerRow, workerRows } from './store.ts';

export const jobStateField = z.enum(jobStates).meta({ id: 'JobState' });

export const jobSchema = z
  .object({
    object: objectName('job'),
    id: idField(idPrefixes.job),
    queue: z.string(),
    state: jobStateField,
    workspace_id: z.string().nullable(),
    data: z.record(z.string(), z.unknown()).meta({ description: 'The payload (IDs only).' }),
    output: z.unknown().meta({ description: 'What its last failure left; null where there was none.' }),
    retry_count: z.int().meta({ description: 'Number of retries.' }),
    retry_limit: z.int(),
    priority: z.int(),
    start_after: timeField,
    created_at: timeField,
    started_at: timeField.nullable(),
    completed_at: timeField.nullable(),
    heartbeat_at: timeField.nullable(),
    parked_in: z.string().nullable().meta({ description: 'The destination that a ready job waits for.' }),
    subject: z
      .object({ type: z.enum(['message', 'webhook', 'domain']), id: z.string() })
      .nullable()
      .meta({ description: 'The subject; domains by name.' }),
    worker: z
      .object({ id: z.uuid(), name: z.string() })
      .nullable()
      .meta({ description: 'The worker running it, if reported. Workers do not report individual emails.' }),
  })
  .meta({ id: 'Job' });
export type JobView = z.output<typeof jobSchema>;

/** A job, with the destination for which its message is parked. */
export interface JobMatch extends JobRow {
  readonly parked_in: string | null;
}

export async function findJob(ctx: Context, id: string): Promise<JobMatch> {
  const [job] = await findJobs(ctx, [id]);
  if (!job) throw jobNotFound(id);
  return job;
}

/** Filters to jobs that exist, queued or parked. */
export async function findJobs(ctx: Context, ids: readonly string[]): Promise<JobMatch[]> {
  const uuids = ids.map(jobUuid).filter((uuid) => uuid !== null);
  if (uuids.length === 0) return [];
  const rows = await jobsByIds(ctx.sql, queueNames, uuids);
  const queued = new Set(rows.map((row) => row.id));
  const parked = await parkedAmong(
    ctx.sql,
    uuids.filter((uuid) => !queued.has(uuid)),
  );
  return [...rows.map((row) => ({ ...row, parked_in: null })), ...parked.map(parkedJob)];
}

function parkedJob({ job_id, workspace_id, message_id, recipient_id, due_at, lane, priority }: ParkedRow): JobMatch {
  return {
    id: job_id,
    queue: 'delivery.attempt',
    state: 'ready',
    data: { workspace_id, message_id, recipient_id },
    output: null,
    retry_count: 0,
    retry_limit: catalogue['delivery.attempt'].options.retry_limit,
    priority: jobPriorities[priority],
    start_after: due_at,
    created_at: due_at,
    started_at: null,
    completed_at: null,
    heartbeat_at: null,
    parked_in: lane,
  };
}

/** Returns jobs as the API shows them, with the workers of active jobs. */
export async function jobViews(ctx: Context, jobs: readonly JobMatch[]): Promise<JobView[]> {
  const active = jobs.filter(({ state }) => state === 'active').map(({ id }) => id);
  const holders = await holdersOf(ctx.sql, active);
  const workers = holders.size > 0 ? await workerRows(ctx.sql, 86_400) : [];
  const workerOf = new Map(workers.map((worker) => [worker.id, worker]));
  return jobs.map((job) => jobView(job, workerOf.get(holders.get(job.id) ?? '')));
}

function jobView(job: JobMatch, worker: WorkerRow | undefined): JobView {
  const data = recordOf(job.data);
  return {
    object: 'job',
    id: jobId(job.id),
    queue: job.queue,
    state: job.state,
    workspace_id: textOf(data.workspace_id),
    data,
    output: job.output,
    retry_count: job.retry_count,
    retry_limit: job.retry_limit,
    priority: job.priority,
    start_after: isoTime(job.start_after),
    created_at: isoTime(job.created_at),
    started_at: job.started_at && isoTime(job.started_at),
    completed_at: job.completed_at && isoTime(job.completed_at),
    heartbeat_at: job.heartbeat_at && isoTime(job.heartbeat_at),
    parked_in: job.parked_in,
    subject: subjectOf(data),
    worker: worker ? { id: worker.id, name: workerName(worker) } : null,
  };
}

function subjectOf(data: Readonly<Record<string, unknown>>): JobView['subject'] {
  const references = [
    { type: 'message', id: textOf(data.message_id) },
    { type: 'webhook', id: textOf(data.webhook_id) },
    { type: 'domain', id: textOf(data.domain) },
  ] as const;
  for (const { type, id } of references) {
    if (id !== null) return { type, id };
  }
  return null;
}

/** Returns a payload with public ids. */
function recordOf(value: unknown): Record<string, unknown> {
  if (typeof value !== 'object' || value === null) return {};
  return Object.fromEntries(
    Object.entries(value).map(([name, field]) => [name, typeof field === 'string' ? idOfUuid(field) : field]),
  );
}

function textOf(value: unknown): string | null {
  return typeof value === 'string' ? value : null;
}

/** Returns the recipient key from a job's payload. */
export function recipientOf(
  job: JobRow,
): { readonly workspace_id: string; readonly message_id: string; readonly recipient_id: string } | null {
  if (job.queue !== ('delivery.attempt' satisfies JobName)) return null;
  const parsed = catalogue['delivery.attempt'].payload.safeParse(job.data);
  return parsed.success ? parsed.data : null;
}
