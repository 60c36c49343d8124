import { z } from 'zod';
import { operation } from '../operation.ts';
import { queueField, queueNamed } from './queue-names.ts';
import { type QueueView, queueSchema, queueViews, windowField } from './queue-view.ts';

export const getQueue = operation({
  name: 'queues.get',
  scope: 'operator',
  summary: 'What waits, runs and is dead in one queue',
  input: z.object({ queue: queueField, window_minutes: windowField }),
  output: queueSchema,
  async run(ctx, { queue, window_minutes }): Promise<QueueView> {
    const name = queueNamed(queue);
    const [view] = await queueViews(ctx, [name], window_minutes);
    if (!view) throw new Error(`there is no view of ${name}`);
    return view;
  },
});
