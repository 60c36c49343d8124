import { isoTime } from '../clock.ts';
import type { RecipientRow } from './log-store.ts';

/** Why an open recipient has not been sent yet, and the time or the thing that it waits for. */
export interface Waiting {
  readonly reason: 'scheduled' | 'retry_backoff' | 'in_line';
  readonly until: string | null;
  readonly last_reply: string | null;
}

/** Computed from the row, never stored; null for whoever is closed or being sent right now. */
export function waitingReason(row: RecipientRow): Waiting | null {
  switch (row.state) {
    case 'scheduled':
      return { reason: 'scheduled', until: isoTime(row.due_at), last_reply: null };
    case 'deferred':
      return { reason: 'retry_backoff', until: isoTime(row.due_at), last_reply: row.last_response };
    case 'queued':
      return { reason: 'in_line', until: null, last_reply: null };
    default:
      return null;
  }
}
