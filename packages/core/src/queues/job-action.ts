import type { Tx } from '@postrider/db';
import { z } from 'zod';
import { type AuditAction, recordAudit } from '../audit/index.ts';
import { idPrefixes } from '../fields/ids.ts';
import { idField } from '../fields/wire.ts';
import { INSTANCE } from '../operation/access.ts';
import type { ActorContext } from '../operation/context.ts';
import { AppError } from '../operation/errors.ts';
import { findJob, type JobMatch, type JobView, jobViews } from './job-view.ts';

export const reasonField = z.string().trim().min(1).max(500).meta({ description: 'Reason for the audit log.' });

export const actionInput = z.object({ id: idField(idPrefixes.job), reason: reasonField.optional() });

/**
 * Runs an admin action on a job, with an audit entry, and returns the job. The action's own statement checks the state;
 * the earlier read only serves the error message.
 */
export async function pull(
  ctx: ActorContext,
  input: z.output<typeof actionInput>,
  action: AuditAction,
  change: (tx: Tx, job: JobMatch) => Promise<boolean>,
): Promise<JobView> {
  const job = await findJob(ctx, input.id);
  const done = await ctx.sql
    .begin(async (tx) => {
      if (!(await change(tx, job))) throw new JobChangedError();
      const diff = { queue: job.queue, state: job.state };
      await recordAudit(tx, ctx, [
        { action, target_id: input.id, diff, reason: input.reason ?? null, workspace_id: INSTANCE },
      ]);
      return true;
    })
    .catch((error: unknown) => {
      if (error instanceof JobChangedError) return false;
      throw error;
    });
  // Read outside the transaction, which would otherwise hold one connection while waiting for another.
  if (!done) throw notOpenError(await findJob(ctx, input.id), action);
  const [view] = await jobViews(ctx, [await findJob(ctx, input.id)]);
  if (!view) throw new Error(`there is no view of ${input.id}`);
  return view;
}

/** Thrown to roll back the action. */
class JobChangedError extends Error {}

const REQUIREMENTS: Partial<Record<AuditAction, string>> = {
  'job.retried': 'Only a dead or canceled job can be retried. A waiting job can be run now.',
  'job.canceled': 'Only a waiting or dead job can be canceled.',
  'job.run_now': 'Only a scheduled job can be run now.',
};

export function notOpenError(job: JobMatch, action: AuditAction, advice = REQUIREMENTS[action] ?? ''): AppError {
  const state = job.parked_in === null ? job.state : `waiting for ${job.parked_in}`;
  return new AppError('job_not_open', `The job is ${state}. ${advice}`.trim(), { extra: { state: job.state } });
}
