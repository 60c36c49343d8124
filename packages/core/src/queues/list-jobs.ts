import { uuidOfId } from '@postrider/db';
import { type JobPage, type JobPlace, type JobsAsked, jobsByIds, readJobPage } from '@postrider/queue';
import { z } from 'zod';
import { idPrefixes, isId } from '../fields/ids.ts';
import { timestampField } from '../fields/timestamp-field.ts';
import { listOf } from '../fields/wire.ts';
import type { Context } from '../operation/context.ts';
import { AppError } from '../operation/errors.ts';
import { operation } from '../operation/operation.ts';
import { type CursorScope, type List, pageFields, readCursor, withCursors, writeCursor } from '../paging/list.ts';
import { jobId } from './job-id.ts';
import { type JobView, jobSchema, jobStateField, jobViews } from './job-view.ts';
import { queueField, queueNamed, queueNames } from './queue-names.ts';
import { readMessageJobs } from './store.ts';

/**
 * Lists the jobs of all queues or of one, latest first: by due time if filtered by state, by end time for finished
 * ones, and otherwise by creation time.
 */
export const listJobs = operation({
  name: 'jobs.list',
  scope: 'operator',
  summary: 'List jobs, newest first',
  input: z.object({
    ...pageFields,
    queue: queueField.optional(),
    state: jobStateField.optional(),
    subject: z.string().max(255).optional().meta({
      description: 'Jobs for this message, webhook or workspace ID, or domain name.',
    }),
    since: timestampField('since').optional().meta({ description: 'Created at or after this time.' }),
    until: timestampField('until').optional().meta({ description: 'Created before this time.' }),
  }),
  output: listOf(jobSchema),
  async run(ctx, { limit, cursor, ...filters }): Promise<List<JobView>> {
    const scope = { secret_key: ctx.secret_key, list: 'jobs', workspace_id: '', filters };
    const query: JobsAsked = {
      queues: filters.queue === undefined ? queueNames : [queueNamed(filters.queue)],
      state: filters.state ?? null,
      since: filters.since ?? null,
      until: filters.until ?? null,
      data: null,
      after: placeIn(scope, cursor),
      count: limit + 1,
    };
    if (filters.subject !== undefined && isId('message', filters.subject)) {
      return jobsOf(ctx, filters.subject, query, limit, scope);
    }
    const data = filters.subject === undefined ? null : payloadAbout(filters.subject);
    const { rows, edge } = await readJobPage(ctx.sql, { ...query, data });
    return listed(ctx, scope, rows, limit, edge);
  },
});

/** Returns a page of one message's jobs, looked up by id because a message has one job per recipient. */
async function jobsOf(
  ctx: Context,
  message_id: string,
  { queues, state, since, until, after }: JobsAsked,
  limit: number,
  scope: CursorScope,
): Promise<List<JobView>> {
  const rows = (await jobsByIds(ctx.sql, queues, await readMessageJobs(ctx.sql, message_id)))
    .filter((row) => state === null || row.state === state)
    .filter((row) => (!since || row.created_at >= since) && (!until || row.created_at < until))
    .filter((row) => after === null || row.id < after.id)
    .sort((left, right) => (left.id < right.id ? 1 : -1));
  return listed(
    ctx,
    scope,
    rows.map((row) => ({ ...row, place: '' })),
    limit,
    null,
  );
}

async function listed(
  ctx: Context,
  scope: CursorScope,
  rows: JobPage['rows'],
  limit: number,
  edge: JobPlace | null,
): Promise<List<JobView>> {
  const jobs = rows.slice(0, limit).map((row) => ({ ...row, parked_in: null }));
  const last = rows.length > limit ? jobs.at(-1) : null;
  const next = last ? { at: last.place, id: last.id } : edge;
  const data = await jobViews(ctx, jobs);
  const places = new Map(jobs.map(({ id, place }) => [jobId(id), `${place}|${id}`]));
  return withCursors(
    scope,
    {
      object: 'list',
      data,
      has_more: next !== null,
      next_cursor: next && writeCursor(scope, `${next.at}|${next.id}`),
    },
    (id) => places.get(id) ?? '',
  );
}

function payloadAbout(subject: string): Record<string, string> {
  if (isId('webhook', subject)) return { webhook_id: uuidOfId(subject) };
  if (subject.startsWith(idPrefixes.workspace)) return { workspace_id: uuidOfId(subject) };
  if (subject.includes('.')) return { domain: subject.toLowerCase() };
  throw new AppError('invalid_type', 'subject must be a message, webhook or workspace ID, or a domain name.', {
    details: [{ param: 'subject', reason: 'invalid_type', message: 'Use msg_…, whk_…, wsp_… or a domain.' }],
  });
}

function placeIn(scope: CursorScope, cursor: string | undefined): JobPlace | null {
  const position = readCursor(scope, cursor);
  if (position === null) return null;
  const [at = '', id = ''] = position.split('|');
  return { at, id };
}
