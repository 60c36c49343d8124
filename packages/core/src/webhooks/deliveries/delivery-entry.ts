import { z } from 'zod';
import { isoTime } from '../../fields/clock.ts';
import { idPrefixes } from '../../fields/ids.ts';
import { idField, objectName, timeField } from '../../fields/wire.ts';
import { AppError } from '../../operation/errors.ts';
import type { WebhookDeliveryRow } from './delivery-store.ts';
import { webhookDeliveryStates } from './state.ts';
import { deliveryWaitingSchema, waitingOf } from './waiting.ts';

export const webhookDeliverySchema = z
  .object({
    object: objectName('webhook_delivery'),
    id: idField(idPrefixes.webhook_delivery),
    webhook_id: idField(idPrefixes.webhook),
    event_id: idField(idPrefixes.event).meta({ description: 'The webhook-id header of every attempt.' }),
    event_type: z.string().meta({ description: 'The type of the event.', examples: ['email.delivered'] }),
    status: z
      .enum(webhookDeliveryStates)
      .meta({ description: 'delivered: a 2xx response. failed: no further attempts.' }),
    attempts: z.int().meta({ description: 'Number of attempts since the delivery started or was replayed.' }),
    created_at: timeField.meta({ description: 'When the delivery was created.' }),
    next_attempt_at: timeField.nullable().meta({ description: 'According to the retry schedule; see waiting.' }),
    waiting: deliveryWaitingSchema.nullable().meta({
      description: 'Why a pending delivery is not attempted, other than its retry schedule: the endpoint or a hold.',
    }),
    last_attempt_at: timeField.nullable().meta({ description: 'When the last attempt ended. null: none yet.' }),
    duration_ms: z.int().nullable().meta({ description: 'Duration of the last attempt.' }),
    finished_at: timeField.nullable().meta({ description: 'When it succeeded or failed permanently.' }),
    response_status: z.int().nullable().meta({ description: 'HTTP status of the last response.' }),
    response_body: z.string().nullable().meta({ description: 'The first kilobyte of the last response.' }),
    error: z.string().nullable().meta({ description: 'Why there was no response, or why delivery was abandoned.' }),
  })
  .meta({ id: 'WebhookDelivery' });
export type WebhookDeliveryEntry = z.output<typeof webhookDeliverySchema>;

export function webhookDeliveryEntry(row: WebhookDeliveryRow): WebhookDeliveryEntry {
  return {
    object: 'webhook_delivery',
    id: row.id,
    webhook_id: row.webhook_id,
    event_id: row.event_id,
    event_type: row.event_type,
    status: row.state,
    attempts: row.attempt_count,
    created_at: isoTime(row.created_at),
    next_attempt_at: row.state === 'pending' ? isoTime(row.next_attempt_at) : null,
    waiting: waitingOf(row.waiting),
    last_attempt_at: row.last_attempt_at && isoTime(row.last_attempt_at),
    duration_ms: row.duration_ms,
    finished_at: row.finished_at && isoTime(row.finished_at),
    response_status: row.response_status,
    response_body: row.response_body,
    error: row.error,
  };
}

export function deliveryNotFound(id: string): AppError {
  return new AppError(
    'delivery_not_found',
    `No delivery with ID ${id.slice(0, 64)} for this webhook. List them with GET /v1/webhooks/{id}/deliveries.`,
  );
}
