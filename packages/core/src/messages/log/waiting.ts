import { z } from 'zod';
import { isoTime } from '../../fields/clock.ts';
import { idPrefixes } from '../../fields/ids.ts';
import { idField, timeField } from '../../fields/wire.ts';
import { holdEnd } from '../../holds/index.ts';
import { destinationOfLane } from '../../lanes/index.ts';
import type { RecipientRow } from './log-store.ts';

/** Why an open recipient has not been sent to yet, and until when. */
export const waitingSchema = z
  .object({
    reason: z
      .enum([
        'scheduled',
        'retry_backoff',
        'hold',
        'queue_paused',
        'throttled',
        'transport_limit',
        'no_worker',
        'in_line',
      ])
      .meta({ description: 'The cause; the other fields have its details.' }),
    until: timeField.nullable().meta({ description: 'When the cause ends or the next attempt is due. null: unknown.' }),
    last_reply: z.string().nullable().meta({ description: 'The last response from the receiving server. null: none.' }),
    hold: z
      .object({
        id: idField(idPrefixes.hold),
        reason: z.string().meta({ description: 'The reason given for the hold.' }),
        expires_at: timeField.nullable().meta({ description: 'When the hold expires. null: when it is released.' }),
      })
      .nullable()
      .meta({ description: 'With hold and queue_paused: what is stopped, and why.' }),
    policy: z
      .object({
        kind: z
          .enum(['destination_failures', 'destination_limit', 'resume_rate'])
          .meta({ description: 'The origin of the limit.' }),
        destination: z.string().nullable().meta({ description: 'The limited destination. null with resume_rate.' }),
        connections: z.int().nullable().meta({ description: 'Maximum concurrent connections. null: no limit.' }),
        messages_per_minute: z.int().nullable().meta({ description: 'Maximum emails per minute. null: no limit.' }),
      })
      .nullable()
      .meta({
        description:
          'With throttled: a failing destination, a limit set by an operator, or the resume rate after a hold.',
      }),
    since: timeField.nullable().meta({
      description:
        'With no_worker: when a worker was last seen, or when the email became due if no worker has ever been seen.',
    }),
    ahead: z.int().nullable().meta({
      description:
        'With in_line: the number of unclaimed deliveries ahead, counted up to 10000. For email that waits for its destination, only deliveries of the same workspace and priority count, up to 1000. Null in lists.',
    }),
    eta_seconds: z.int().nullable().meta({
      description: "With in_line: the estimated wait, based on the last minute's rate. Null if unknown, and in lists.",
    }),
  })
  .meta({ id: 'Waiting' });
export type Waiting = z.output<typeof waitingSchema>;

/** Returns why a recipient is waiting; null if it is closed or being sent to. Computed from the row, never stored. */
export function waitingReason(row: RecipientRow): Waiting | null {
  switch (row.state) {
    case 'scheduled':
      return row.due ? dueReason(row) : waits('scheduled', { until: isoTime(row.due_at) });
    case 'deferred': {
      if (row.due) return dueReason(row);
      return waits('retry_backoff', { until: isoTime(row.due_at), last_reply: row.last_response });
    }
    case 'queued':
      return dueReason(row);
    case 'sending':
      // A recipient without a lease has lost its worker; the next claim takes the recipient over.
      return row.leased ? null : dueReason(row);
    default:
      return null;
  }
}

/** Returns why a due recipient is still waiting: operators' decisions come first, then the destination's limits. */
function dueReason(row: RecipientRow): Waiting {
  const { last_response: last_reply } = row;
  if (row.hold_id !== null && row.hold_until !== null) {
    const expires_at = holdEnd(row.hold_until);
    const hold = { id: row.hold_id, reason: row.hold_reason ?? '', expires_at };
    return waits(row.hold_scope === 'queue' ? 'queue_paused' : 'hold', { until: expires_at, last_reply, hold });
  }
  if (row.throttled_until !== null && row.throttled_by === 'transport_limit')
    return waits('transport_limit', { until: isoTime(row.throttled_until), last_reply });
  if (row.throttled_until !== null) {
    const policy = {
      kind: row.throttled_by === 'limit' ? 'destination_limit' : 'destination_failures',
      destination: row.parked_lane && destinationOfLane(row.parked_lane),
      connections: row.limit_connections,
      messages_per_minute: row.limit_per_minute,
    } as const;
    const until = isoTime(row.throttled_until);
    return waits('throttled', { until, last_reply: row.throttled_reply ?? last_reply, policy });
  }
  if (row.resume_rate !== null) {
    const policy = { kind: 'resume_rate', destination: null, connections: null } as const;
    return waits('throttled', { last_reply, policy: { ...policy, messages_per_minute: row.resume_rate } });
  }
  if (!row.worker_there) return waits('no_worker', { last_reply, since: isoTime(row.worker_seen ?? row.due_at) });
  const { ahead = null, eta_seconds = null } = row;
  return waits('in_line', { last_reply, ahead, eta_seconds });
}

function waits(reason: Waiting['reason'], facts: Partial<Waiting>): Waiting {
  return {
    reason,
    until: null,
    last_reply: null,
    hold: null,
    policy: null,
    since: null,
    ahead: null,
    eta_seconds: null,
    ...facts,
  };
}
