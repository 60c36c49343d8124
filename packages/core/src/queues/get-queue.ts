import { z } from 'zod';
import { operation } from '../operation/operation.ts';
import { queueField, queueNamed } from './queue-names.ts';
import { percentilesField, type QueueView, queueSchema, queueViews, windowField } from './queue-view.ts';

export const getQueue = operation({
  name: 'queues.get',
  scope: 'operator',
  summary: 'Waiting, running and dead jobs of one queue',
  input: z.object({ queue: queueField, window_minutes: windowField, percentiles: percentilesField }),
  output: queueSchema,
  async run(ctx, { queue, ...options }): Promise<QueueView> {
    const name = queueNamed(queue);
    const [view] = await queueViews(ctx, [name], options);
    if (!view) throw new Error(`there is no view of ${name}`);
    return view;
  },
});
