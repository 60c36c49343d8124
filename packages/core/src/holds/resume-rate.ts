import { z } from 'zod';
import { AppError } from '../operation/errors.ts';
import { ratedQueues } from './held-queues.ts';

const MAX_RATE = 60_000;

export const rateField = z.int().min(1).max(MAX_RATE);

/** Requires a target whose backlog is released at a rate: email or webhook deliveries. */
export function requireRated({ scope, value }: { readonly scope: string; readonly value: string }): void {
  if (scope !== 'queue' || ratedQueues.some((name) => name === value)) return;
  throw new AppError(
    'invalid_type',
    `resume_rate_per_minute applies to email and webhooks. Of the queues, it is supported for ${ratedQueues.join(', ')}.`,
  );
}
