import { z } from 'zod';
import { AppError } from '../operation/errors.ts';
import type { PlanRow } from './plan-store.ts';

// The maximum of cc, and of bcc, in a send.
const MOST_RECIPIENTS = 1000;
const MOST_PER_MINUTE = 1_000_000;
// The maximum of a GraphQL Int.
const MOST_MONTHLY = 2 ** 31 - 1;

export const planName = z.string().meta({ examples: ['growth'] });

export const limitFields = {
  monthly_emails: z
    .int()
    .min(0)
    .max(MOST_MONTHLY)
    .nullable()
    .meta({ description: 'Mails of a calendar month, by unique recipient; null: no limit.' }),
  recipients_per_request: z.int().min(1).max(MOST_RECIPIENTS).meta({ description: 'Unique to, cc and bcc of a mail.' }),
  send_per_minute: z.int().min(1).max(MOST_PER_MINUTE).meta({ description: 'Requests of one key that send.' }),
  logs_per_minute: z.int().min(1).max(MOST_PER_MINUTE).meta({ description: 'Requests of one key that read logs.' }),
  default_per_minute: z.int().min(1).max(MOST_PER_MINUTE).meta({ description: 'All other requests of one key.' }),
};
export const limitNames = [
  'monthly_emails',
  'recipients_per_request',
  'send_per_minute',
  'logs_per_minute',
  'default_per_minute',
] as const satisfies readonly (keyof typeof limitFields)[];

export const planSchema = z.object({ object: z.literal('plan'), name: planName, ...limitFields }).meta({ id: 'Plan' });
export type PlanEntry = z.output<typeof planSchema>;

export function planEntry({ name, ...limits }: PlanRow): PlanEntry {
  const { monthly_emails, recipients_per_request, send_per_minute, logs_per_minute, default_per_minute } = limits;
  return {
    object: 'plan',
    name,
    monthly_emails,
    recipients_per_request,
    send_per_minute,
    logs_per_minute,
    default_per_minute,
  };
}

export function planNotFound(name: string): AppError {
  return new AppError('plan_not_found', `There is no plan ${name.slice(0, 64)}; create it first, or name another.`);
}
