import type { Queue } from '@postrider/queue';
import { z } from 'zod';

/**
 * Every job there is: its payload, which holds ids only, and how pg-boss keeps it. Delivery and
 * webhook retries are rows of ours; retry_limit here is for faults of the process that ran the job.
 */
export const catalogue = {
  'delivery.attempt': {
    payload: z.object({ workspace_id: z.string(), message_id: z.string(), recipient_id: z.string() }),
    options: { retry_limit: 1000, retry_delay_seconds: 5, expire_seconds: 900, heartbeat_seconds: 30 },
  },
  'domain.cancel_mail': {
    payload: z.object({ workspace_id: z.string(), domain: z.string() }),
    options: { retry_limit: 1000, retry_delay_seconds: 30, expire_seconds: 900 },
  },
  'domain.recheck': {
    payload: z.object({}),
    options: { retry_limit: 0, retry_delay_seconds: 0, expire_seconds: 900, cron: '* * * * *' },
  },
  // The word that an endpoint is owed something; what, is in the rows. It is held while somebody looks after the endpoint.
  'webhook.deliver': {
    payload: z.object({ workspace_id: z.string(), webhook_id: z.string() }),
    options: {
      retry_limit: 1000,
      retry_delay_seconds: 1,
      expire_seconds: 900,
      heartbeat_seconds: 30,
      sql_function: 'call_for_webhooks',
    },
  },
  'webhook.recover': {
    payload: z.object({
      workspace_id: z.string(),
      webhook_id: z.string(),
      since: z.iso.datetime(),
      until: z.iso.datetime(),
    }),
    options: { retry_limit: 100, retry_delay_seconds: 30, expire_seconds: 900 },
  },
  'webhook.close': {
    payload: z.object({ webhook_id: z.string() }),
    options: { retry_limit: 100, retry_delay_seconds: 30, expire_seconds: 900 },
  },
  'bulk.run': {
    payload: z.object({ bulk_id: z.string(), turn: z.int() }),
    options: { retry_limit: 1000, retry_delay_seconds: 5, expire_seconds: 300, heartbeat_seconds: 30 },
  },
  'numbers.roll_up': {
    payload: z.object({}),
    options: { retry_limit: 0, retry_delay_seconds: 0, expire_seconds: 300, cron: '* * * * *' },
  },
  'storage.maintain': {
    payload: z.object({}),
    options: { retry_limit: 3, retry_delay_seconds: 60, expire_seconds: 900, cron: '7 * * * *' },
  },
} as const;

export type JobName = keyof typeof catalogue;
export type JobData<N extends JobName> = z.output<(typeof catalogue)[N]['payload']>;
export type Jobs = Queue<typeof catalogue>;
