import { z } from 'zod';
import { objectName } from '../fields/wire.ts';
import { operation } from '../operation/operation.ts';
import { queueNames } from './queue-names.ts';
import { percentilesField, type QueueView, queueSchema, queueViews, windowField } from './queue-view.ts';

export interface Queues {
  readonly object: 'list';
  readonly data: readonly QueueView[];
}

/** Lists every queue, including idle ones. */
export const listQueues = operation({
  name: 'queues.list',
  scope: 'operator',
  summary: 'Waiting, running and dead jobs of every queue',
  input: z.object({ window_minutes: windowField, percentiles: percentilesField }),
  output: z.object({ object: objectName('list'), data: z.array(queueSchema).readonly() }),
  async run(ctx, options): Promise<Queues> {
    return { object: 'list', data: await queueViews(ctx, queueNames, options) };
  },
});
