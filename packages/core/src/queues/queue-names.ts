import { z } from 'zod';
import { AppError } from '../operation/errors.ts';
import { catalogue, type JobName } from '../process/jobs.ts';

// The cast is safe because the keys of `catalogue` are the queue names.
export const queueNames = (Object.keys(catalogue) as JobName[]).sort();

export const queueField = z.string().meta({ description: 'The name of a queue.', examples: ['delivery.attempt'] });

export function queueNamed(text: string): JobName {
  const name = queueNames.find((one) => one === text);
  if (name) return name;
  throw new AppError('queue_not_found', `No queue named ${text.slice(0, 100)}. Queues: ${queueNames.join(', ')}.`);
}
