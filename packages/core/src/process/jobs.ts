import { idKindOf, idOfUuid, uuidOfId } from '@postrider/db';
import type { Queue } from '@postrider/queue';
import { z } from 'zod';

/** A UUID in the payload, so that statements can join on it. */
const id = z.codec(z.string(), z.string(), {
  decode: idOfUuid,
  encode: (text) => (idKindOf(text) === null ? text : uuidOfId(text)),
});

/** The next run is soon enough to repeat a failed one. */
const EVERY_MINUTE = {
  retry_limit: 0,
  retry_delay_seconds: 0,
  heartbeat_seconds: 30,
  cron: '* * * * *',
  dead_seconds: 86_400,
} as const;

/**
 * Every kind of job: its payload, which contains only ids, and its pg-boss options. Delivery and webhook retries are
 * rows in our own tables; retry_limit only covers failures of the process that ran the job. concurrency is the number
 * of jobs each worker runs at the same time, until an operator sets another number.
 */
export const catalogue = {
  'account.notify': {
    purpose: 'Notifies people by email of security events of their account.',
    concurrency: 4,
    payload: z.object({ notice_id: z.int() }),
    options: { retry_limit: 10, retry_delay_seconds: 30, expire_seconds: 300, heartbeat_seconds: 30 },
  },
  'delivery.attempt': {
    purpose:
      'Sends an email to one recipient: the first attempt, scheduled email when due, and retries after a deferral.',
    concurrency: 600,
    payload: z.object({ workspace_id: id, message_id: id, recipient_id: id }),
    options: { retry_limit: 1000, retry_delay_seconds: 5, expire_seconds: 900, heartbeat_seconds: 30 },
  },
  'domain.cancel_mail': {
    purpose: 'Cancels pending email from a removed domain.',
    concurrency: 4,
    payload: z.object({ workspace_id: id, domain: z.string() }),
    options: { retry_limit: 1000, retry_delay_seconds: 30, expire_seconds: 900, heartbeat_seconds: 30 },
  },
  'domain.recheck': {
    purpose: 'Checks the DNS records of domains that are due.',
    concurrency: 1,
    payload: z.object({}),
    options: { ...EVERY_MINUTE, expire_seconds: 900 },
  },
  // Wakes a worker for an endpoint; the deliveries themselves are rows. The job stays active while the endpoint is
  // leased.
  'webhook.deliver': {
    purpose: 'Sends pending deliveries to one webhook endpoint.',
    concurrency: 150,
    payload: z.object({ workspace_id: id, webhook_id: id }),
    options: {
      retry_limit: 1000,
      retry_delay_seconds: 1,
      expire_seconds: 900,
      heartbeat_seconds: 30,
      sql_function: 'call_for_webhooks',
    },
  },
  'webhook.recover': {
    purpose: 'Recovers the events of a time range for a webhook endpoint.',
    concurrency: 4,
    payload: z.object({
      workspace_id: id,
      webhook_id: id,
      since: z.iso.datetime(),
      until: z.iso.datetime(),
    }),
    options: { retry_limit: 100, retry_delay_seconds: 30, expire_seconds: 900, heartbeat_seconds: 30 },
  },
  'webhook.close': {
    purpose: 'Drops pending deliveries of a disabled or deleted webhook endpoint.',
    concurrency: 4,
    payload: z.object({ webhook_id: id }),
    options: { retry_limit: 100, retry_delay_seconds: 30, expire_seconds: 900, heartbeat_seconds: 30 },
  },
  'bulk.run': {
    purpose: 'Runs a bulk operation, one slice at a time.',
    concurrency: 4,
    payload: z.object({ bulk_id: id, turn: z.int() }),
    options: { retry_limit: 1000, retry_delay_seconds: 5, expire_seconds: 300, heartbeat_seconds: 30 },
  },
  'erasure.run': {
    purpose: 'Erases an address from all stored data.',
    concurrency: 1,
    payload: z.object({ erasure_id: id }),
    options: { retry_limit: 1000, retry_delay_seconds: 30, expire_seconds: 3600, heartbeat_seconds: 30 },
  },
  'feedback.match': {
    purpose: 'Matches what relays reported before the attempt was recorded.',
    concurrency: 1,
    payload: z.object({}),
    options: { ...EVERY_MINUTE, expire_seconds: 300 },
  },
  'numbers.roll_up': {
    purpose: 'Counts email outcomes by minute, hour and day.',
    concurrency: 1,
    payload: z.object({}),
    options: { ...EVERY_MINUTE, expire_seconds: 300 },
  },
  'secrets.reencrypt': {
    purpose: 'Re-encrypts data from SECRET_KEY_PREVIOUS to SECRET_KEY.',
    concurrency: 1,
    payload: z.object({ key_id: z.string() }),
    options: { retry_limit: 100, retry_delay_seconds: 30, expire_seconds: 900, heartbeat_seconds: 30 },
  },
  'storage.maintain': {
    purpose: 'Creates partitions for the coming months and deletes expired data.',
    concurrency: 1,
    payload: z.object({}),
    options: { retry_limit: 3, retry_delay_seconds: 60, expire_seconds: 900, heartbeat_seconds: 30, cron: '7 * * * *' },
  },
} as const;

export type JobName = keyof typeof catalogue;
export type JobData<N extends JobName> = z.output<(typeof catalogue)[N]['payload']>;
export type Jobs = Queue<typeof catalogue>;
