import { idKindOf, idOfUuid, uuidOfId } from '@postrider/db';
import type { Queue } from '@postrider/queue';
import { z } from 'zod';

/** A uuid in the payload, so that statements can join with it. */
const id = z.codec(z.string(), z.string(), {
  decode: idOfUuid,
  encode: (text) => (idKindOf(text) === null ? text : uuidOfId(text)),
});

/**
 * Every job there is: its payload, which holds ids only, and how pg-boss keeps it. Delivery and
 * webhook retries are rows of ours; retry_limit here is for faults of the process that ran the job.
 * concurrency is how many each worker runs at once, until an operator sets another number.
 */
export const catalogue = {
  'delivery.attempt': {
    purpose:
      'Sends one recipient their copy of a mail: an attempt, scheduled mail once it is due, and after a deferral the next.',
    concurrency: 600,
    payload: z.object({ workspace_id: id, message_id: id, recipient_id: id }),
    options: { retry_limit: 1000, retry_delay_seconds: 5, expire_seconds: 900, heartbeat_seconds: 30 },
  },
  'domain.cancel_mail': {
    purpose: 'Cancels the mail that waits to be sent from a domain that was removed.',
    concurrency: 4,
    payload: z.object({ workspace_id: id, domain: z.string() }),
    options: { retry_limit: 1000, retry_delay_seconds: 30, expire_seconds: 900, heartbeat_seconds: 30 },
  },
  'domain.recheck': {
    purpose: 'Looks again at the DNS records of domains that are due for it.',
    concurrency: 1,
    payload: z.object({}),
    options: {
      retry_limit: 0,
      retry_delay_seconds: 0,
      expire_seconds: 900,
      heartbeat_seconds: 30,
      cron: '* * * * *',
      dead_seconds: 86_400,
    },
  },
  // Wakes a worker for an endpoint; the deliveries are rows. The job stays active while the endpoint is leased.
  'webhook.deliver': {
    purpose: 'Posts to one endpoint what is owed to it.',
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
    purpose: 'Owes an endpoint the events of a range of time once more.',
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
    purpose: 'Ends what is still owed to an endpoint that is disabled or removed.',
    concurrency: 4,
    payload: z.object({ webhook_id: id }),
    options: { retry_limit: 100, retry_delay_seconds: 30, expire_seconds: 900, heartbeat_seconds: 30 },
  },
  'bulk.run': {
    purpose: 'Works off a bulk operation, a slice at a time.',
    concurrency: 4,
    payload: z.object({ bulk_id: id, turn: z.int() }),
    options: { retry_limit: 1000, retry_delay_seconds: 5, expire_seconds: 300, heartbeat_seconds: 30 },
  },
  'erasure.run': {
    purpose: 'Erases an address from all that is stored of it.',
    concurrency: 1,
    payload: z.object({ erasure_id: id }),
    options: { retry_limit: 1000, retry_delay_seconds: 30, expire_seconds: 3600, heartbeat_seconds: 30 },
  },
  'numbers.roll_up': {
    purpose: 'Counts by the minute, hour and day what became of mail.',
    concurrency: 1,
    payload: z.object({}),
    options: {
      retry_limit: 0,
      retry_delay_seconds: 0,
      expire_seconds: 300,
      heartbeat_seconds: 30,
      cron: '* * * * *',
      dead_seconds: 86_400,
    },
  },
  'secrets.reencrypt': {
    purpose: 'Encrypts under SECRET_KEY what is still encrypted under SECRET_KEY_PREVIOUS.',
    concurrency: 1,
    payload: z.object({ key_id: z.string() }),
    options: { retry_limit: 100, retry_delay_seconds: 30, expire_seconds: 900, heartbeat_seconds: 30 },
  },
  'storage.maintain': {
    purpose: 'Creates the partitions of the next months, and deletes what has passed its retention.',
    concurrency: 1,
    payload: z.object({}),
    options: { retry_limit: 3, retry_delay_seconds: 60, expire_seconds: 900, heartbeat_seconds: 30, cron: '7 * * * *' },
  },
} as const;

export type JobName = keyof typeof catalogue;
export type JobData<N extends JobName> = z.output<(typeof catalogue)[N]['payload']>;
export type Jobs = Queue<typeof catalogue>;
