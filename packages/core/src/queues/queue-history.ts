import { transactionTime } from '@postrider/db';
import { z } from 'zod';
import { isoTime } from '../fields/clock.ts';
import { timestampField } from '../fields/timestamp-field.ts';
import { objectName, timeField } from '../fields/wire.ts';
import { AppError } from '../operation/errors.ts';
import { operation } from '../operation/operation.ts';
import { queueField, queueNamed } from './queue-names.ts';
import { percentileOf } from './run-times.ts';
import { historyOf } from './store.ts';

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const KEPT_DAYS = 31;

const queuePointSchema = z
  .object({
    at: timeField.meta({ description: 'Start of the interval.' }),
    ready: z.int(),
    deferred: z.int(),
    active: z.int(),
    dead: z.int(),
    parked: z.int(),
    oldest_ready_seconds: z.number().nullable(),
    finished: z.int().meta({ description: 'Jobs completed in the interval.' }),
    failed: z.int().meta({ description: 'Runs that failed in the interval.' }),
    wait_p95_seconds: z.number().nullable(),
  })
  .meta({ id: 'QueuePoint' });
export type QueuePoint = z.output<typeof queuePointSchema>;

const queueHistorySchema = z.object({
  object: objectName('list'),
  data: z.array(queuePointSchema).readonly(),
  point_seconds: z.int().meta({ description: 'Interval of each point.' }),
});
export type QueueHistory = z.output<typeof queueHistorySchema>;

/** Returns the depth and the finished jobs of a queue, per minute or coarser. */
export const queueHistory = operation({
  name: 'queues.history',
  scope: 'operator',
  summary: 'The history of a queue',
  input: z.object({
    queue: queueField,
    since: timestampField('since').optional().meta({ description: 'An hour ago where none is given.' }),
    until: timestampField('until').optional().meta({ description: 'Now where none is given.' }),
    max_points: z.int().min(1).max(1000).default(300),
  }),
  output: queueHistorySchema,
  async run(ctx, { queue, since, until, max_points }): Promise<QueueHistory> {
    const name = queueNamed(queue);
    const end = until ?? (await ctx.sql.begin(transactionTime));
    const start = since?.getTime() ?? end.getTime() - HOUR_MS;
    if (start >= end.getTime() || end.getTime() - start > KEPT_DAYS * 24 * HOUR_MS) {
      throw new AppError('invalid_range', `since must be before until, by up to ${KEPT_DAYS} days.`);
    }
    const begin = new Date(Math.floor(start / MINUTE_MS) * MINUTE_MS);
    const minutes = Math.ceil((end.getTime() - begin.getTime()) / MINUTE_MS / max_points);
    const rows = await historyOf(ctx.sql, name, { since: begin, until: end, minutes });
    return {
      object: 'list',
      data: rows.map(({ at, wait_bins, ...row }) => ({
        at: isoTime(at),
        ...row,
        wait_p95_seconds: percentileOf(wait_bins, 95),
      })),
      point_seconds: minutes * 60,
    };
  },
});
