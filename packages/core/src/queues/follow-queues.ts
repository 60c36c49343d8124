import { setTimeout as pause } from 'node:timers/promises';
import { z } from 'zod';
import type { Context } from '../operation/context.ts';
import { operation } from '../operation/operation.ts';
import type { JobName } from '../process/jobs.ts';
import { queueField, queueNamed, queueNames } from './queue-names.ts';
import { DEFAULTS, type QueueView, queueViews } from './queue-view.ts';

const POLL_MS = 2000;

/** Streams queues each time a worker has measured them; yields null as a keep-alive. */
export const followQueues = operation({
  name: 'queues.follow',
  scope: 'operator',
  summary: 'Follow waiting, running and dead jobs',
  input: z.object({ queues: z.array(queueField).max(100).optional() }),
  output: z.custom<AsyncGenerator<readonly QueueView[] | null>>(),
  async run(ctx, { queues }) {
    return follow(ctx, queues?.map(queueNamed) ?? queueNames);
  },
});

async function* follow(ctx: Context, names: readonly JobName[]): AsyncGenerator<readonly QueueView[] | null> {
  let last = '';
  for (;;) {
    const views = await queueViews(ctx, names, DEFAULTS);
    const measured = views.map(({ measured_at }) => measured_at).join();
    const is_new = last !== measured;
    last = measured;
    yield is_new ? views : null;
    await pause(POLL_MS);
  }
}
