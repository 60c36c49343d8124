import { z } from 'zod';
import { objectName } from '../fields/wire.ts';
import { AppError } from '../operation/errors.ts';
import type { PlanRow } from './plan-store.ts';

// The maximum number of cc recipients, and of bcc recipients, in a send.
const MAX_RECIPIENTS = 1000;
const MAX_PER_MINUTE = 1_000_000;
// The maximum of a GraphQL Int.
const MAX_INT = 2 ** 31 - 1;

const rateField = z.int().min(1).max(MAX_PER_MINUTE).nullable().meta({
  description: 'Requests per minute across all API keys of a workspace; null: only the limit per key applies.',
});

const heldField = (description: string) =>
  z
    .int()
    .min(0)
    .max(MAX_INT)
    .nullable()
    .meta({ description: `${description}; null: only the product limit applies.` });

export const planName = z.string().meta({ examples: ['growth'] });

export const limitFields = {
  monthly_emails: z
    .int()
    .min(0)
    .max(MAX_INT)
    .nullable()
    .meta({ description: 'Emails per calendar month, by unique recipient; null: no limit.' }),
  recipients_per_request: z
    .int()
    .min(1)
    .max(MAX_RECIPIENTS)
    .meta({ description: 'Unique addresses in to, cc and bcc per email.' }),
  send_per_minute: z.int().min(1).max(MAX_PER_MINUTE).meta({ description: 'Send requests per minute, per key.' }),
  logs_per_minute: z.int().min(1).max(MAX_PER_MINUTE).meta({ description: 'Log requests per minute, per live key.' }),
  default_per_minute: z
    .int()
    .min(1)
    .max(MAX_PER_MINUTE)
    .meta({ description: 'Other requests per minute, per live key.' }),
  sandbox_logs_per_minute: z
    .int()
    .min(1)
    .max(MAX_PER_MINUTE)
    .meta({ description: 'Log requests per minute, per sandbox key.' }),
  sandbox_default_per_minute: z
    .int()
    .min(1)
    .max(MAX_PER_MINUTE)
    .meta({ description: 'Other requests per minute, per sandbox key.' }),
  workspace_rate: rateField,
  api_key_limit: heldField('Active API keys per workspace, in both modes'),
  domain_limit: heldField('Domains per workspace'),
  webhook_limit: heldField('Webhooks per workspace, in both modes'),
  member_limit: heldField('Members per workspace'),
  transport_limit: heldField("Transports of a workspace's own; 0: none"),
  capture_bytes_limit: heldField('Captured email per workspace, in bytes'),
};
export const limitNames = [
  'monthly_emails',
  'recipients_per_request',
  'send_per_minute',
  'logs_per_minute',
  'default_per_minute',
  'sandbox_logs_per_minute',
  'sandbox_default_per_minute',
  'workspace_rate',
  'api_key_limit',
  'domain_limit',
  'webhook_limit',
  'member_limit',
  'transport_limit',
  'capture_bytes_limit',
] as const satisfies readonly (keyof typeof limitFields)[];

export const planSchema = z.object({ object: objectName('plan'), name: planName, ...limitFields }).meta({ id: 'Plan' });
export type PlanEntry = z.output<typeof planSchema>;

export function planEntry(row: PlanRow): PlanEntry {
  return {
    object: 'plan',
    name: row.name,
    monthly_emails: row.monthly_emails,
    recipients_per_request: row.recipients_per_request,
    send_per_minute: row.send_per_minute,
    logs_per_minute: row.logs_per_minute,
    default_per_minute: row.default_per_minute,
    sandbox_logs_per_minute: row.sandbox_logs_per_minute,
    sandbox_default_per_minute: row.sandbox_default_per_minute,
    workspace_rate: row.workspace_rate,
    api_key_limit: row.api_key_limit,
    domain_limit: row.domain_limit,
    webhook_limit: row.webhook_limit,
    member_limit: row.member_limit,
    transport_limit: row.transport_limit,
    capture_bytes_limit: row.capture_bytes_limit,
  };
}

export function planNotFound(name: string): AppError {
  return new AppError('plan_not_found', `No plan named ${name.slice(0, 64)}. Create it first or use another.`);
}
