import { z } from 'zod';
import { idPrefixes } from '../../fields/ids.ts';
import { idField, timeField } from '../../fields/wire.ts';
import { holdEnd } from '../../holds/index.ts';

export const deliveryWaitingReasons = ['endpoint_disabled', 'hold', 'queue_paused', 'endpoint_paused'] as const;

/** Why a pending delivery is not attempted, other than its own retry schedule. */
export const deliveryWaitingSchema = z
  .object({
    reason: z.enum(deliveryWaitingReasons).meta({ description: 'endpoint_paused: paused after repeated failures.' }),
    until: timeField.nullable().meta({
      description: 'The earliest next attempt; null if it waits until a hold is released or the webhook is enabled.',
    }),
    hold_id: idField(idPrefixes.hold).nullable().meta({ description: 'With hold and queue_paused: the hold.' }),
  })
  .meta({ id: 'DeliveryWaiting' });
export type DeliveryWaiting = z.output<typeof deliveryWaitingSchema>;

/** The cast is safe because waitingColumn builds the JSON. */
export function waitingOf(json: string | null): DeliveryWaiting | null {
  if (json === null) return null;
  const { reason, until, hold_id } = JSON.parse(json) as Partial<DeliveryWaiting> & Pick<DeliveryWaiting, 'reason'>;
  return { reason, until: until == null ? null : holdEnd(new Date(until)), hold_id: hold_id ?? null };
}
