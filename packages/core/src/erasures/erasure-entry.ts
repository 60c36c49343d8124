import { z } from 'zod';
import { isoTime } from '../fields/clock.ts';
import { idPrefixes } from '../fields/ids.ts';
import { idField, objectName, timeField } from '../fields/wire.ts';
import { AppError } from '../operation/errors.ts';
import type { ErasureRow } from './store.ts';

/** The kinds of data that an erasure counts, in the order in which it runs. */
export const erasedKinds = [
  'recipients',
  'canceled',
  'messages',
  'bodies',
  'bodies_kept',
  'attempts',
  'transcripts',
  'events',
  'webhook_deliveries',
  'captures',
  'requests',
  'idempotency_keys',
  'suppressions',
  'other_rows',
] as const;
export type ErasedKind = (typeof erasedKinds)[number];
export type ErasedCounts = Readonly<Record<ErasedKind, number>>;

export const NOTHING_ERASED: ErasedCounts = {
  recipients: 0,
  canceled: 0,
  messages: 0,
  bodies: 0,
  bodies_kept: 0,
  attempts: 0,
  transcripts: 0,
  events: 0,
  webhook_deliveries: 0,
  captures: 0,
  requests: 0,
  idempotency_keys: 0,
  suppressions: 0,
  other_rows: 0,
};

/** Places where an address may remain, because no run reaches them. */
export const remainders = [
  'content of email that was also sent to others',
  'sender addresses and user accounts with this address',
  'backups, replicas and log files, until they expire',
  'email already sent: mailboxes, relays and webhook receivers have their own copies',
] as const;

const count = z.int();
export const erasureSchema = z
  .object({
    object: objectName('erasure'),
    id: idField(idPrefixes.erasure),
    status: z.enum(['queued', 'running', 'completed']).meta({ description: 'completed: the counts are final.' }),
    counts: z
      .object({
        recipients: count.meta({ description: 'Recipients whose address was replaced.' }),
        canceled: count.meta({ description: 'Recipients whose pending email was canceled.' }),
        messages: count.meta({ description: 'Emails whose addresses, subject, tags or metadata were redacted.' }),
        bodies: count.meta({ description: 'Emails whose content was deleted.' }),
        bodies_kept: count.meta({ description: 'Content kept because other people received it too.' }),
        attempts: count.meta({ description: 'Attempts whose reply or error was redacted.' }),
        transcripts: count.meta({ description: 'Deleted SMTP transcripts.' }),
        events: count.meta({ description: 'Events whose data was redacted.' }),
        webhook_deliveries: count.meta({ description: 'Redacted webhook deliveries and their attempts.' }),
        captures: count.meta({ description: 'Deleted captured emails.' }),
        requests: count.meta({ description: 'Deleted entries of the request log.' }),
        idempotency_keys: count.meta({ description: 'Deleted stored responses.' }),
        suppressions: count.meta({ description: 'Kept as a hash.' }),
        other_rows: count.meta({ description: 'Statistics, failures, bulk operations and jobs.' }),
      })
      .readonly()
      .meta({ description: 'Number of items affected so far, by kind.' }),
    remains: z.array(z.string()).readonly().meta({ description: 'Where the address may still be stored.' }),
    created_at: timeField.meta({ description: 'When the erasure was requested.' }),
    finished_at: timeField.nullable().meta({ description: 'When it completed. null: not yet.' }),
  })
  .meta({ id: 'Erasure' });
export type ErasureEntry = z.output<typeof erasureSchema>;

export function erasureEntry({ id, status, counts, created_at, finished_at }: ErasureRow): ErasureEntry {
  return {
    object: 'erasure',
    id,
    status,
    // The cast is safe because counts of this type were written with JSON.stringify.
    counts: { ...NOTHING_ERASED, ...(JSON.parse(counts) as Partial<ErasedCounts>) },
    remains: remainders,
    created_at: isoTime(created_at),
    finished_at: finished_at && isoTime(finished_at),
  };
}

export function erasureNotFound(id: string): AppError {
  return new AppError(
    'erasure_not_found',
    `No erasure with ID ${id.slice(0, 64)} in this workspace. Start one with POST /v1/erasures.`,
  );
}
