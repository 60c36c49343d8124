import { z } from 'zod';
import { isoTime } from '../clock.ts';
import { timeField } from '../wire.ts';
import type { RecipientRow } from './log-store.ts';

/** Why an open recipient has not been sent yet, and the time or the thing that it waits for. */
export const waitingSchema = z
  .object({
    reason: z.enum(['scheduled', 'retry_backoff', 'throttled', 'in_line']),
    until: timeField.nullable(),
    last_reply: z.string().nullable(),
  })
  .meta({ id: 'Waiting' });
export type Waiting = z.output<typeof waitingSchema>;

/** Computed from the row, never stored; null for whoever is closed or being sent right now. */
export function waitingReason(row: RecipientRow): Waiting | null {
  const inLine: Waiting = row.throttled_until
    ? // Its destination is closed for a while: by its failures, or by the limit that an operator has set.
      { reason: 'throttled', until: isoTime(row.throttled_until), last_reply: row.throttled_reply ?? row.last_response }
    : { reason: 'in_line', until: null, last_reply: row.last_response };
  switch (row.state) {
    case 'scheduled':
      return row.due ? inLine : { reason: 'scheduled', until: isoTime(row.due_at), last_reply: null };
    case 'deferred':
      return row.due ? inLine : { reason: 'retry_backoff', until: isoTime(row.due_at), last_reply: row.last_response };
    case 'queued':
      return inLine;
    case 'sending':
      // Its worker was lost; whoever comes next takes it over.
      return row.leased ? null : inLine;
    default:
      return null;
  }
}
